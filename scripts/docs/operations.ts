import { COMMON_ERRORS } from '../../src/wire/error-codes.ts'
import { code, page, table } from './markdown.ts'
import { operationsOf, type OpenApiDocument, type PlacedOperation } from './open-api.ts'

const NOTE = `Bodies, parameters and responses are described in [openapi.json](openapi.json), which the api serves at
\`/openapi.json\` and shows at \`/docs\`. This page lists the errors that are specific to an operation; errors of any
operation are in [errors.md](errors.md).`

export function operationsPage(document: OpenApiDocument): string {
  const byTag = Map.groupBy(operationsOf(document), ({ tags }) => tags[0] ?? 'Other')
  const sections = [...byTag].flatMap(([tag, members]) => [`## ${tag}`, operationTable(members)])
  return page('Operations', NOTE, ...sections)
}

function operationTable(operations: readonly PlacedOperation[]): string {
  const rows = operations.map((operation) => [
    code(`${operation.method} ${operation.path}`),
    roles(operation),
    operation.summary,
    successes(operation),
    specificErrors(operation),
  ])
  return table(['Operation', 'Roles', 'What it does', 'Responses', 'Specific errors'], rows)
}

function roles({ 'x-roles': access }: PlacedOperation): string {
  if (access === 'authenticated') return 'any authenticated caller'
  return typeof access === 'string' ? access : access.join(', ')
}

function successes({ responses }: PlacedOperation): string {
  return Object.entries(responses)
    .filter(([, { description }]) => codesIn(description).length === 0)
    .map(([status, { description }]) => `${status}: ${description}`)
    .join(' ')
}

function specificErrors(operation: PlacedOperation): string {
  return Object.entries(operation.responses)
    .flatMap(([status, { description }]) => codesIn(description).map((name) => ({ status, name })))
    .filter(({ name }) => isSpecific(operation, name))
    .map(({ status, name }) => `[${code(name)}](errors.md#${name}) (${status})`)
    .join(', ')
}

/** Each paragraph of an error's description begins with its code; other descriptions have no codes. */
function codesIn(description: string): string[] {
  return [...description.matchAll(/^`([a-z_]+)`:/gm)].map(([, name = '']) => name)
}

/** If an operation requires no role, `forbidden` has a reason of its own there. */
function isSpecific({ 'x-roles': access }: PlacedOperation, name: string): boolean {
  return !(name in COMMON_ERRORS) || (name === 'forbidden' && !Array.isArray(access))
}
