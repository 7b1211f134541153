import { COMMON_ERRORS } from '../../src/wire/error-codes.ts'
import { code, page, table } from './markdown.ts'

/** What is read of the OpenAPI document that the API serves. */
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

const NOTE = `Bodies, parameters and answers are described in [openapi.json](openapi.json), which the api also serves
at \`/openapi.json\`, with a page for the browser at \`/docs\`. Errors that any operation may answer with are in
[errors.md](errors.md); those below are each operation's own.`

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
    answers(operation),
    ownErrors(operation),
  ])
  return table(['Operation', 'Roles', 'What it does', 'Answers', 'Errors of its own'], rows)
}

function roles({ 'x-roles': access }: Operation): string {
  if (access === 'authenticated') return 'any known caller'
  return typeof access === 'string' ? access : access.join(', ')
}

function answers({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([, { description }]) => codesIn(description).length === 0)
    .map(([status, { description }]) => `${status}: ${description}`)
    .join(' ')
}

function ownErrors(operation: Operation): string {
  return Object.entries(operation.responses)
    .flatMap(([status, { description }]) => codesIn(description).map((name) => ({ status, name })))
    .filter(({ name }) => isOwn(operation, name))
    .map(({ status, name }) => `${code(name)} (${status})`)
    .join(', ')
}

/** Each paragraph of an error's description begins with its code; other answers have none. */
function codesIn(description: string): string[] {
  return [...description.matchAll(/^`([a-z_]+)`:/gm)].map(([, name = '']) => name)
}

/** Where no role is asked for, being forbidden is a matter of the operation itself. */
function isOwn({ 'x-roles': access }: Operation, name: string): boolean {
  return !(name in COMMON_ERRORS) || (name === 'forbidden' && !Array.isArray(access))
}
