import {
  operationsOf,
  type OpenApiDocument,
  type Operation,
  type PlacedOperation,
  type Schema,
} from './open-api.ts'

const NOTE =
  '// Generated from the OpenAPI document of the platform. Run `node scripts/docs.ts` to write it again.'
const JSON_TYPE = 'application/json'

/** The API for the code of the console: the types of its operations, who may call them, and the schemas of their bodies. */
export function consoleApi(document: OpenApiDocument): string {
  const operations = operationsOf(document)
  return [
    NOTE,
    `export interface Schemas {\n${members(document.components.schemas)}\n}`,
    `export interface Operations {\n${operations.map(operationType).join('\n')}\n}`,
    `export const OPERATIONS = ${table(operations, callOf)} as const`,
    `export const BODIES = ${table(operations.filter(bodyOf), bodyOf)} as const\n`,
  ].join('\n\n')
}

function table(
  operations: readonly PlacedOperation[],
  valueOf: (operation: PlacedOperation) => unknown,
): string {
  const lines = operations.map((each) => `  ${each.operationId}: ${JSON.stringify(valueOf(each))},`)
  return `{\n${lines.join('\n')}\n}`
}

function callOf({ method, path, 'x-roles': access }: PlacedOperation) {
  return { method, path, access }
}

function bodyOf({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content[JSON_TYPE]?.schema
}

function operationType(operation: PlacedOperation): string {
  const body = bodyOf(operation)
  const parts = [
    `path: ${parametersType(operation, 'path')}`,
    `query: ${parametersType(operation, 'query')}`,
    `body: ${body ? typeOf(body) : 'undefined'}`,
    `answer: ${answerType(operation)}`,
  ]
  return `  ${operation.operationId}: { ${parts.join('; ')} }`
}

function parametersType({ parameters = [] }: PlacedOperation, place: string): string {
  const own = parameters.filter((each) => each.in === place)
  if (own.length === 0) return 'undefined'
  return `{ ${own.map(({ name, required, schema }) => member(name, schema, required)).join('; ')} }`
}

/** Of the successful responses; undefined where one has no JSON. */
function answerType({ responses }: PlacedOperation): string {
  const schemas = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content?.[JSON_TYPE]?.schema)
  const types = new Set(schemas.map((schema) => (schema ? typeOf(schema) : 'undefined')))
  return [...types].join(' | ') || 'undefined'
}

function members(schemas: Readonly<Record<string, Schema>>): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `  ${name}: ${typeOf(schema)}`)
    .join('\n')
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** The TypeScript type of the values that a schema accepts. */
function typeOf(schema: Schema): string {
  if (schema.$ref) return `Schemas['${schema.$ref.split('/').at(-1) ?? ''}']`
  const types = [schema.type ?? []].flat()
  if (schema.enum) {
    const values = schema.enum.map((value) => JSON.stringify(value))
    return [...new Set([...values, ...types.filter((type) => type === 'null')])].join(' | ')
  }
  const names = types.map((type) => PLAIN[type] ?? (type === 'array' ? listType(schema) : objectType(schema)))
  return names.join(' | ') || 'unknown'
}

function listType({ items }: Schema): string {
  return `readonly (${items ? typeOf(items) : 'unknown'})[]`
}

function objectType({ properties, patternProperties, additionalProperties, required = [] }: Schema): string {
  if (properties) {
    const own = Object.entries(properties).map(([name, each]) => member(name, each, required.includes(name)))
    return `{ ${own.join('; ')} }`
  }
  const pattern = Object.values(patternProperties ?? {})[0] ?? additionalProperties
  return `{ readonly [name: string]: ${typeof pattern === 'object' ? typeOf(pattern) : 'unknown'} }`
}

function member(name: string, schema: Schema, isRequired: boolean): string {
  return `readonly ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeOf(schema)}`
}
