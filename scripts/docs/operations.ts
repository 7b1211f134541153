import { COMMON_ERRORS } from '../../src/wire/error-codes.ts'
import { code, page, table } from './markdown.ts'

/** The parts of the OpenAPI document that are used here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly tags: readonly string[]
  readonly summary: string
  readonly 'x-roles': 'public' | 'authenticated' | readonly string[]
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

interface NamedOperation extends Operation {
  readonly method: string
  readonly path: string
}

const NOTE = `Bodies, parameters and responses are described in [openapi.json](openapi.json), which the api serves at
\`/openapi.json\` and shows at \`/docs\`. This page lists the errors that are specific to an operation; errors of any
operation are in [errors.md](errors.md).`

export function operationsPage({ paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  )
  const byTag = Map.groupBy(operations, ({ tags }) => tags[0] ?? 'Other')
  const sections = [...byTag].flatMap(([tag, members]) => [`## ${tag}`, operationTable(members)])
  return page('Operations', NOTE, ...sections)
}

function operationTable(operations: readonly NamedOperation[]): string {
  const rows = operations.map((operation) => [
    code(`${operation.method.toUpperCase()} ${operation.path}`),
    roles(operation),
    operation.summary,
    successes(operation),
    specificErrors(operation),
  ])
  return table(['Operation', 'Roles', 'What it does', 'Responses', 'Specific errors'], rows)
}

function roles({ 'x-roles': access }: Operation): string {
  if (access === 'authenticated') return 'any authenticated caller'
  return typeof access === 'string' ? access : access.join(', ')
}

function successes({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([, { description }]) => codesIn(description).length === 0)
    .map(([status, { description }]) => `${status}: ${description}`)
    .join(' ')
}

function specificErrors(operation: Operation): string {
  return Object.entries(operation.responses)
    .flatMap(([status, { description }]) => codesIn(description).map((name) => ({ status, name })))
    .filter(({ name }) => isSpecific(operation, name))
    .map(({ status, name }) => `${code(name)} (${status})`)
    .join(', ')
}

/** Each paragraph of an error's description begins with its code; other descriptions have no codes. */
function codesIn(description: string): string[] {
  return [...description.matchAll(/^`([a-z_]+)`:/gm)].map(([, name = '']) => name)
}

/** If an operation requires no role, `forbidden` has a reason of its own there. */
function isSpecific({ 'x-roles': access }: Operation, name: string): boolean {
  return !(name in COMMON_ERRORS) || (name === 'forbidden' && !Array.isArray(access))
}
