import {
  operationsOf,
  type OpenApiDocument,
  type Parameter,
  type PlacedOperation,
  type Schema,
} from './open-api.ts'

/** The first line of the generated files. */
export const GENERATED_NOTE =
  '// Generated from the OpenAPI document of the platform. Run `node scripts/docs.ts` to write it again.'
const JSON_TYPE = 'application/json'
const EVENT_TYPE = 'application/cloudevents+json'
// RFC 9110, section 9.2.2
const IDEMPOTENT_METHODS = ['GET', 'PUT', 'DELETE']

/** The API for programs: the types of its operations, and what a call of each needs to know. */
export function clientApi(document: OpenApiDocument): string {
  const operations = operationsOf(document)
  return [
    GENERATED_NOTE,
    `export interface Schemas {\n${members(document.components.schemas)}\n}`,
    ...eventTypes(document),
    `export interface Operations {\n${operations.map(operationType).join('\n')}\n}`,
    `export const OPERATIONS = ${operationTable(operations, callOf)} as const\n`,
  ].join('\n\n')
}

/** The text of an object with a line for each operation. */
export function operationTable(
  operations: readonly PlacedOperation[],
  valueOf: (operation: PlacedOperation) => unknown,
): string {
  const lines = operations.map((each) => `  ${each.operationId}: ${JSON.stringify(valueOf(each))},`)
  return `{\n${lines.join('\n')}\n}`
}

/** The schema of the JSON body. */
export function jsonBodyOf({ requestBody }: PlacedOperation): Schema | undefined {
  return requestBody?.content[JSON_TYPE]?.schema
}

function callOf(operation: PlacedOperation) {
  const { method, path, 'x-roles': access, 'x-repeatable': repeatable = true } = operation
  const isKeyed = parametersIn(operation, 'header').some(({ name }) => name === 'Idempotency-Key')
  const isRepeatable = isKeyed || (repeatable && IDEMPOTENT_METHODS.includes(method))
  return { method, path, access, answer: answerKind(operation), isKeyed, isRepeatable }
}

function operationType(operation: PlacedOperation): string {
  const parts = [
    `path: ${parametersType(operation, 'path')}`,
    `query: ${parametersType(operation, 'query')}`,
    `headers: ${parametersType(operation, 'header')}`,
    `body: ${bodyType(operation)}`,
    `answer: ${answerType(operation)}`,
  ]
  return `  /** ${operation.summary}. */\n  ${operation.operationId}: { ${parts.join('; ')} }`
}

function parametersIn({ parameters = [] }: PlacedOperation, place: string): Parameter[] {
  return parameters.filter((each) => each.in === place)
}

function parametersType(operation: PlacedOperation, place: string): string {
  const own = parametersIn(operation, place)
  if (own.length === 0) return 'undefined'
  return `{ ${own.map(parameterMember).join('; ')} }`
}

/** A list with commas may have one value, which then needs no brackets. */
function parameterMember({ name, required, schema, explode }: Parameter): string {
  const isList = explode === false && schema.items !== undefined
  const one = isList ? `${typeOf(schema.items)} | ` : ''
  return `readonly ${JSON.stringify(name)}${required ? '' : '?'}: ${one}${typeOf(schema)}`
}

function bodyType(operation: PlacedOperation): string {
  const schema = jsonBodyOf(operation)
  if (!schema) return 'undefined'
  return operation.requestBody?.required === false ? `${typeOf(schema)} | undefined` : typeOf(schema)
}

/** How a client reads a response by its content type; JSON has a schema of its own. */
const ANSWER_TYPES: Readonly<Record<string, { readonly kind: string; readonly type?: string }>> = {
  [JSON_TYPE]: { kind: 'json' },
  'text/event-stream': { kind: 'events', type: 'undefined' },
  'text/plain': { kind: 'text', type: 'string' },
  'text/html': { kind: 'text', type: 'string' },
  'application/x-pem-file': { kind: 'text', type: 'string' },
  'application/jsonl': { kind: 'text', type: 'string' },
  'application/octet-stream': { kind: 'bytes', type: 'ReadableStream<Uint8Array>' },
}

/** The content of each successful response; undefined for one without a body. */
function successContents({ responses }: PlacedOperation): (readonly [type: string, schema: Schema])[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content = {} }]) => {
      const [type, body] = Object.entries(content)[0] ?? []
      return [type ?? '', body?.schema ?? {}] as const
    })
}

function answerKind(operation: PlacedOperation): string {
  const kinds = successContents(operation).map(([type]) => ANSWER_TYPES[type]?.kind)
  return kinds.find((kind) => kind !== undefined) ?? 'none'
}

function answerType(operation: PlacedOperation): string {
  const types = successContents(operation).map(([type, schema]) => {
    if (type === '') return 'undefined'
    const answer = ANSWER_TYPES[type]
    if (!answer) throw new Error(`${operation.operationId}: no type is known for an answer in ${type}`)
    return answer.type ?? typeOf(schema)
  })
  return [...new Set(types)].join(' | ') || 'undefined'
}

/** The name of the schema of each event's data, by the subject; an event whose schema has no name is left out. */
export function eventSchemas(document: OpenApiDocument): Record<string, string> {
  const named = eventData(document).flatMap(([subject, { $ref }]) => ($ref ? [[subject, nameIn($ref)]] : []))
  return Object.fromEntries(named) as Record<string, string>
}

function eventData({ webhooks = {} }: OpenApiDocument): (readonly [subject: string, data: Schema])[] {
  return Object.entries(webhooks).map(([subject, { post }]) => {
    const { data = {} } = post.requestBody?.content[EVENT_TYPE]?.schema?.properties ?? {}
    return [subject, data]
  })
}

function eventTypes(document: OpenApiDocument): string[] {
  if (!document.webhooks) return []
  const lines = eventData(document).map(([subject, data]) => `  ${JSON.stringify(subject)}: ${typeOf(data)}`)
  return [`/** The data of each event, by its subject. */\nexport interface Events {\n${lines.join('\n')}\n}`]
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
  if (schema.$ref) return `Schemas['${nameIn(schema.$ref)}']`
  const types = [schema.type ?? []].flat()
  if (schema.enum) {
    const values = schema.enum.map((value) => JSON.stringify(value))
    return [...new Set([...values, ...types.filter((type) => type === 'null')])].join(' | ')
  }
  const names = types.map((type) => PLAIN[type] ?? (type === 'array' ? listType(schema) : objectType(schema)))
  return names.join(' | ') || 'unknown'
}

/** The name of the schema that a reference leads to. */
function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? ''
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
