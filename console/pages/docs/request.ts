import type { OpenApiDocument, Operation, Schema } from './document.ts'
import { jsonSchema, resolve } from './document.ts'

/** What the reader has entered for a call. */
export interface Entries {
  /** By the name of the parameter; an empty value is not sent. */
  readonly parameters: Readonly<Record<string, string>>
  /** As JSON text; empty for an operation without a body. */
  readonly body: string
  readonly token: string
}

export interface BuiltRequest {
  readonly path: string
  readonly init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
}

/** The request that these entries describe. */
export function buildRequest(operation: Operation, { parameters, body, token }: Entries): BuiltRequest {
  const entriesIn = (place: string) =>
    (operation.parameters ?? [])
      .filter((parameter) => parameter.in === place)
      .map(({ name }) => [name, parameters[name] ?? ''] as const)
      .filter(([, value]) => value !== '')
  const inPath = new Map(entriesIn('path'))
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(inPath.get(name) ?? ''),
  )
  const query = new URLSearchParams(entriesIn('query').map(([name, value]) => [name, value])).toString()
  return {
    path: query ? `${path}?${query}` : path,
    init: {
      method: operation.method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(operation.requestBody && { 'content-type': 'application/json' }),
        ...Object.fromEntries(entriesIn('header')),
      },
      ...(operation.requestBody && { body }),
    },
  }
}

/** The path parameters without a value. */
export function missingParameters(
  operation: Operation,
  { parameters }: Pick<Entries, 'parameters'>,
): string[] {
  return (operation.parameters ?? [])
    .filter(({ name, required }) => required && !parameters[name])
    .map(({ name }) => name)
}

/** An example of the body with the required fields, or with all fields if none is required. */
export function exampleBody(api: OpenApiDocument, operation: Operation): string {
  const schema = operation.requestBody && jsonSchema(operation.requestBody)
  return schema ? JSON.stringify(exampleOf(api, schema), null, 2) : ''
}

const BY_TYPE: Readonly<Record<string, unknown>> = {
  integer: 1,
  number: 1,
  boolean: true,
  string: 'text',
  null: null,
}

function exampleOf(api: OpenApiDocument, schema: Schema): unknown {
  const { examples, enum: values, type, properties, required = [], items } = resolve(api, schema)
  if (examples?.length) return examples[0]
  if (values?.length) return values[0]
  if (properties) {
    const names = required.length > 0 ? required : Object.keys(properties)
    return Object.fromEntries(names.map((name) => [name, exampleOf(api, properties[name] ?? {})]))
  }
  if (items) return [exampleOf(api, items)]
  return BY_TYPE[[type].flat()[0] ?? ''] ?? {}
}

/** The request as a command for a shell; the token is taken from the variable `TOKEN`. */
export function toCurl(origin: string, { path, init }: BuiltRequest): string {
  const headers = Object.entries(init.headers).map(([name, value]) =>
    name === 'authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quote(`${name}: ${value}`)}`,
  )
  const body = init.body === undefined ? [] : [`-d ${quote(init.body)}`]
  return ['curl -s', `-X ${init.method}`, quote(origin + path), ...headers, ...body].join(' ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
