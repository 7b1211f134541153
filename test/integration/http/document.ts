import assert from 'node:assert/strict'
import { Compile } from 'typebox/compile'
import type { Answer, Sent } from './traffic.ts'

/** A JSON Schema as it stands in the document. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly examples?: readonly unknown[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
  /** False: the values of a list are in one text, with commas between them. */
  readonly explode?: boolean
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly unknown[]
  readonly 'x-roles'?: unknown
  /** The kind of object that the audit trail names. */
  readonly 'x-audit-target'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<
    Record<string, Content & { readonly description?: string; readonly headers?: object }>
  >
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, object>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** An operation with where it is found. */
export interface Place {
  readonly method: string
  /** As in the document: `/orders/{order_id}`. */
  readonly path: string
  readonly operation: Operation
}

/** Every operation of the document, in its order. */
export function placesOf(document: OpenApiDocument): Place[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

/** The schema of the body of an operation, if it takes one. */
export function bodySchema({ requestBody }: Operation): Schema | undefined {
  return requestBody?.content?.['application/json']?.schema
}

/** Whether an operation takes a body of a foreign protocol, whose unknown keys it ignores. */
export function hasOpenBody({ operationId }: Operation): boolean {
  return ['postPrometheusAlerts', 'postAlertmanagerNotification', 'postAlertmanagerSilence'].includes(
    operationId,
  )
}

/** Whether another program decides what the query has. */
export function hasOpenQuery({ operationId }: Operation): boolean {
  return operationId === 'finishSignIn'
}

/** Fails when an answer is not what the document says about that operation. */
export type CheckAnswer = (sent: Sent, answer: Answer) => void

/** Judges every answer by the document: its status must be declared, and its body keep to the schema of that status. */
export function answerCheck(document: OpenApiDocument): CheckAnswer {
  const places = placesOf(document).map((place) => ({ ...place, matches: pathPattern(place.path) }))
  const check = schemaCheck(document)
  return (sent, answer) => {
    const path = sent.path.split(/[?#]/, 1)[0] as string
    // A path that is written out goes before one with a parameter, whatever the method.
    const isWritten = Object.hasOwn(document.paths, path)
    const isPlace = (each: (typeof places)[0]) => (isWritten ? each.path === path : each.matches.test(path))
    const place = places.find((each) => each.method === sent.method && isPlace(each))
    const what = `${sent.method} ${sent.path.slice(0, 100)} → ${answer.status} ${answer.text.slice(0, 300)}`
    assert.match(String(answer.headers['x-request-id']), /^[A-Za-z0-9._-]{1,128}$/, what)
    if (!place) return check({ $ref: '#/components/schemas/Error' }, answer.json(), what)
    const declared = place.operation.responses[answer.status]
    assert.ok(declared, `no such answer is declared: ${what}`)
    checkHeaders(sent, answer, declared.headers, what)
    if (!declared.content) return assert.equal(answer.text, '', what)
    const type = String(answer.headers['content-type']).split(';', 1)[0] as string
    const media = declared.content[type]
    assert.ok(media, `${type} is not declared: ${what}`)
    check(media.schema, type === 'application/json' ? answer.json() : answer.text, what)
  }
}

const DECLARED_HEADERS = [
  'ETag',
  'Location',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'WWW-Authenticate',
]

/** Every such header of an answer is declared; an object that is new or has versions has its header. */
function checkHeaders(
  { method }: Sent,
  { status, headers }: Answer,
  declared: object = {},
  what: string,
): void {
  for (const name of DECLARED_HEADERS)
    if (headers[name.toLowerCase()] !== undefined)
      assert.ok(name in declared, `the header ${name} is not declared: ${what}`)
  if (method === 'GET' && status < 400 && 'ETag' in declared)
    assert.ok(headers['etag'], `ETag is missing: ${what}`)
  if (status === 201 || status === 302) assert.ok(headers['location'], `Location is missing: ${what}`)
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]*')}$`)
}

function schemaCheck(document: OpenApiDocument): (schema: object, value: unknown, what: string) => void {
  const compiled = new Map<string, ReturnType<typeof Compile>>()
  return (schema, value, what) => {
    const key = JSON.stringify(schema)
    const check = compiled.get(key) ?? Compile(resolveReferences(document, schema) as object)
    compiled.set(key, check)
    if (!check.Check(value))
      assert.fail(`${what}\nis not as declared: ${JSON.stringify(check.Errors(value))}`)
  }
}

/** The schema with what its references lead to in their place. Fails for one that leads nowhere. */
export function resolveReferences(document: OpenApiDocument, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => resolveReferences(document, each))
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) return resolveReferences(document, target(document, String(schema.$ref)))
  return Object.fromEntries(
    Object.entries(schema).map(([name, each]) => [name, resolveReferences(document, each)]),
  )
}

function target(document: OpenApiDocument, reference: string): unknown {
  assert.match(reference, /^#\//, 'a reference stays in the document')
  let found: unknown = document
  for (const step of reference.slice(2).split('/')) {
    assert.ok(typeof found === 'object' && found !== null && step in found, `${reference} leads nowhere`)
    found = (found as Record<string, unknown>)[step]
  }
  return found
}
