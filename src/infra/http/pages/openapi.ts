import { Type, type TObject, type TSchema } from 'typebox'
import {
  COMMON_ERRORS,
  ERRORS_PATH,
  SHARED_ERRORS,
  type ErrorCode,
  type ErrorCodes,
} from '../../../wire/error-codes.ts'
import type { DocumentFacts, EventType } from '../../../wire/domain.ts'
import { CSV, listFields } from '../../../wire/csv.ts'
import { EVENT_STREAM } from '../../../wire/event-stream.ts'
import {
  isChange,
  isConditional,
  isPolicy,
  isStream,
  maxBodyBytes,
  type Access,
  type AnswerSchema,
  type Route,
} from '../../../wire/route.ts'
import { ErrorBody } from '../../../wire/schemas.ts'

const REFERENCE = '#/components/schemas/'

/** The OpenAPI 3.1 document of these routes, as data that is ready to be written as JSON. */
export function createOpenApiDocument(
  routes: readonly Route[],
  version: string,
  { errors, events }: DocumentFacts = { errors: {}, events: [] },
) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backend platform',
      version,
      description:
        'Orders, messages, alerts and users of the platform. Times are RFC 3339 UTC. Errors are `{code, message}`; ' +
        `any POST may carry an \`Idempotency-Key\`, and every response carries an \`X-Request-Id\`. \`${ERRORS_PATH}\` says what each code means.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    servers: [{ url: '/', description: 'The server of this document.' }],
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        localTool: {
          type: 'apiKey',
          in: 'header',
          name: 'X-User-ID',
          description: 'With X-User-Roles; only from a trusted peer on the same host.',
        },
      },
      schemas: withCodes(namedSchemas(routes, events), Object.keys(errors)),
      ...(Object.keys(errors).length > 0 && { 'x-errors': catalogueOf(errors) }),
    },
    paths: pathsOf(routes),
    ...(events.length > 0 && { webhooks: webhooksOf(events) }),
  }
}

type Operations = Record<string, Record<string, unknown>>

/** The routes by their paths, in which OpenAPI writes a parameter as `{name}`. */
function pathsOf(routes: readonly Route[]): Record<string, Operations> {
  const paths: Record<string, Operations> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return paths
}

function operationOf(route: Route): Record<string, unknown> {
  const { body, isBodyOptional = false, isRepeatable = true } = route
  const parameters = parametersOf(route)
  return {
    operationId: route.operation,
    summary: route.summary,
    tags: [route.tag],
    description: [route.description, accessSentence(route.access)].filter(Boolean).join('\n\n'),
    ...(route.takesRawBody && { requestBody: { content: { '*/*': {} } } }),
    ...(body && { requestBody: { required: !isBodyOptional, content: contentOf(body) } }),
    ...(parameters.length > 0 && { parameters }),
    security: route.access === 'public' ? [] : [{ token: [] }, { localTool: [] }],
    'x-roles': isPolicy(route.access) ? 'policy' : route.access,
    ...(!isRepeatable && { 'x-repeatable': false }),
    ...('audit' in route && route.audit && { 'x-audit-target': route.audit.kind }),
    ...(body && { 'x-max-body-bytes': maxBodyBytes(route) }),
    responses: responsesOf(route),
  }
}

function parametersOf(route: Route): object[] {
  return [
    ...parametersIn('path', route.params),
    ...parametersIn('query', route.query),
    ...parametersIn('header', headersOf(route)),
  ]
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>
  readonly required?: readonly string[]
}

function parametersIn(place: 'path' | 'query' | 'header', schema: TSchema | undefined): object[] {
  if (!schema) return []
  const { properties, required = [] } = schema as ObjectSchema
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = membersWithReferences(property)
    return {
      schema: rest,
      in: place,
      name,
      ...('isCommaList' in property && { style: 'form', explode: false }),
      required: required.includes(name),
      ...(description !== undefined && { description }),
    }
  })
}

/** The headers that an operation may take, each as a text with these members. */
const REQUEST_HEADERS = {
  'Idempotency-Key': {
    pattern: '^[\\x20-\\x7e]{1,128}$',
    description:
      'For 24 hours the same key with the same request gets the first response again. Printable ASCII.',
  },
  'Last-Event-ID': {
    maxLength: 64,
    examples: ['17-4'],
    description: 'The `id` of the last event that the client has seen: the stream goes on behind it.',
  },
  Range: {
    maxLength: 1_024,
    examples: ['bytes=0-1048575'],
    description: 'One part of the file: `bytes=first-last`, `bytes=first-` or `bytes=-length`.',
  },
  'If-Range': {
    maxLength: 1_024,
    description:
      'The `ETag` of the file of which the client has a part; the whole file is sent if it is another one.',
  },
  'If-Match': {
    maxLength: 16_384,
    examples: ['"1"', '*'],
    description: 'The expected `ETag`, several of them, or `*`; any other version is rejected with 412.',
  },
  'If-None-Match': {
    maxLength: 16_384,
    examples: ['"1"'],
    description:
      'The `ETag` of what the client has, several of them, or `*`: one that is current is answered with 304.',
  },
}

/** The headers that affect an operation. */
function headersOf(route: Route): TObject {
  const isFile = route.errors?.['range_not_satisfiable'] !== undefined
  const isTaken: Readonly<Record<string, boolean>> = {
    'Idempotency-Key': takesIdempotencyKey(route),
    'Last-Event-ID': isStream(route) && hasEvents(route),
    Range: isFile,
    'If-Range': isFile,
    'If-Match': route.errors?.['precondition_failed'] !== undefined,
    'If-None-Match': isConditional(route),
  }
  const taken = Object.entries(REQUEST_HEADERS).filter(([name]) => isTaken[name])
  return Type.Object(
    Object.fromEntries(taken.map(([name, members]) => [name, Type.Optional(Type.String(members))])),
  )
}

function hasEvents({ answers }: Route): boolean {
  return answers[200]?.contentType === EVENT_STREAM
}

/** The schemas of responses and events that have a name, each once; other schemas refer to them. */
function namedSchemas(routes: readonly Route[], events: readonly EventType[]): Record<string, object> {
  const byName: Record<string, object> = {}
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    if (isNamed(schema)) byName[schema.$id] = withoutName(schema)
    Object.values(schema).forEach(collect)
  }
  for (const { answers } of routes) for (const { schema } of Object.values(answers)) collect(schema)
  for (const { schema } of events) collect(schema)
  collect(ErrorBody)
  return byName
}

/** A later release may have more of them. */
function withCodes(schemas: Record<string, object>, codes: readonly string[]): Record<string, object> {
  if (codes.length === 0) return schemas
  const error = schemas['Error'] as { readonly properties: { readonly code: object } }
  const code = { ...error.properties.code, enum: codes.toSorted() }
  return { ...schemas, Error: { ...error, properties: { ...error.properties, code } } }
}

const TEXT = { type: 'string' }

/** The codes of errors, each with the place of its meaning. */
function catalogueOf(errors: ErrorCodes): Record<string, object> {
  const codes = Object.keys(errors).sort()
  return Object.fromEntries(codes.map((code) => [code, { ...errors[code], href: `${ERRORS_PATH}#${code}` }]))
}

/** What a webhook gets for each event, which is also what is on the bus and on the live stream. */
function webhooksOf(events: readonly EventType[]): Record<string, object> {
  const bodyOf = ({ subject, source, schema }: EventType) => ({
    type: 'object',
    required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
    properties: {
      specversion: { const: '1.0' },
      id: { ...TEXT, description: 'Of the event; the same at each delivery.' },
      source: { const: source },
      type: subject.endsWith('*')
        ? { ...TEXT, pattern: `^${subject.slice(0, -1).replaceAll('.', '\\.')}` }
        : { const: subject },
      subject: { ...TEXT, description: 'Id of the object.' },
      time: { ...TEXT, format: 'date-time' },
      datacontenttype: { const: 'application/json' },
      traceparent: { ...TEXT, description: 'Of the request that has caused it (W3C Trace Context).' },
      tracestate: TEXT,
      data: withReferences(schema),
    },
  })
  const post = (event: EventType) => ({
    operationId: `on ${event.subject}`.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_match, next: string) =>
      next.toUpperCase(),
    ),
    summary: `The event ${event.subject}`,
    // Its signature identifies the platform.
    security: [],
    description: 'A CloudEvents 1.0 envelope, signed as a Standard Webhook.',
    requestBody: {
      required: true,
      content: { 'application/cloudevents+json': { schema: bodyOf(event) } },
    },
    responses: { '2XX': { description: 'The event was taken; anything else is tried again.' } },
  })
  return Object.fromEntries(events.map((event) => [event.subject, { post: post(event) }]))
}

function withoutName(schema: NamedSchema): object {
  const { $id: _, ...rest } = membersWithReferences(schema)
  return rest
}

interface NamedSchema {
  readonly $id: string
}

function isNamed(schema: object): schema is NamedSchema {
  return '$id' in schema && typeof schema.$id === 'string'
}

/** The schema with each named schema in it replaced by a reference. */
function withReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  return isNamed(schema) ? { $ref: `${REFERENCE}${schema.$id}` } : membersWithReferences(schema)
}

/** Members of the platform's schemas that say something to the platform alone. */
const UNDOCUMENTED = ['documentedPattern', 'patternFault', 'nameFault', 'isCommaList']

function membersWithReferences(schema: object): Record<string, unknown> {
  const members = Object.entries(schema).filter(([name]) => !UNDOCUMENTED.includes(name))
  const { documentedPattern: pattern } = schema as { readonly documentedPattern?: string }
  const documented = { ...Object.fromEntries(members), ...(pattern !== undefined && { pattern }) }
  return Object.fromEntries(
    Object.entries({ ...documented, ...formatOf(schema) }).map(([name, member]) => [
      name,
      withReferences(member),
    ]),
  )
}

interface NumberMembers {
  readonly type?: unknown
  readonly maximum?: unknown
}

const INT32_MAXIMUM = 2_147_483_647

/** Clients in typed languages would otherwise take every integer for one of 32 bits. */
function formatOf({ type, maximum }: NumberMembers): { readonly format?: 'int64' } {
  const isLong = type === 'integer' && (typeof maximum !== 'number' || maximum > INT32_MAXIMUM)
  return isLong ? { format: 'int64' } : {}
}

function accessSentence(access: Access): string {
  if (access === 'public') return 'Public.'
  if (access === 'authenticated') return 'For every authenticated caller.'
  return isPolicy(access) ? access.description : `For the roles ${access.join(', ')}.`
}

interface DescribedResponse {
  readonly description: string
  readonly headers?: object
  readonly content?: object
}

const headerOf = (description: string, schema: object = { type: 'string' }) => ({ description, schema })

const COMMON_HEADERS = {
  'X-Request-Id': headerOf('The id of the request, as in the log.'),
  RateLimit: headerOf('What is left of the limit of the caller, and until when: `"caller";r=599999;t=60`.'),
  'RateLimit-Policy': headerOf(
    'The limit of each caller: `"caller";q=600000;w=60`. Absent if there is none.',
  ),
}
const ENTITY_TAG = { ETag: headerOf('The version of the object.') }
const LOCATION = { Location: headerOf('The path of the object, or where the browser goes on.') }
const LINK = { Link: headerOf('Where the code of the error is explained: `rel="help"` (RFC 8288).') }
const RETRY_AFTER = { 'Retry-After': headerOf('Seconds to wait.', { type: 'integer', minimum: 0 }) }

/** The headers of an answer with this status, besides those of its body. */
function responseHeaders(status: number, { hasTag }: Pick<AnswerSchema, 'hasTag'> = {}): object {
  return {
    ...COMMON_HEADERS,
    ...(status >= 400 && LINK),
    ...((hasTag || status === 304 || status === 412) && ENTITY_TAG),
    ...((status === 201 || status === 302) && LOCATION),
    ...((status === 429 || status === 503) && RETRY_AFTER),
    ...(status === 401 && { 'WWW-Authenticate': headerOf('`Bearer`.') }),
  }
}

const IDEMPOTENT_REPLAY = {
  'Idempotent-Replay': headerOf('`true` if the request with this `Idempotency-Key` was carried out before.'),
}

const NOT_MODIFIED = { description: 'The client has it: its `ETag` is in `If-None-Match`.' }

function responsesOf(route: Route): Record<number, DescribedResponse> {
  const responses: Record<number, DescribedResponse> = {}
  for (const [status, codes] of errorsByStatus(route)) {
    const description = codes.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join('\n\n')
    responses[status] = describedResponse(status, { description, schema: ErrorBody })
  }
  for (const [status, answer] of Object.entries(route.answers)) {
    const described = describedResponse(Number(status), answer)
    const csv = status === '200' && listFields(route) && contentOf(Type.String(), CSV)
    const headers = {
      ...described.headers,
      // What was created, although its answer is not complete yet.
      ...(status === '202' && route.answers[201] && LOCATION),
      ...(takesIdempotencyKey(route) && IDEMPOTENT_REPLAY),
    }
    responses[Number(status)] = {
      ...described,
      headers,
      ...(csv && { content: { ...described.content, ...csv } }),
    }
  }
  if (isConditional(route)) responses[304] = describedResponse(304, NOT_MODIFIED)
  return responses
}

function describedResponse(status: number, answer: AnswerSchema): DescribedResponse {
  const { description, schema, contentType } = answer
  const described = { description, headers: responseHeaders(status, answer) }
  return schema ? { ...described, content: contentOf(schema, contentType) } : described
}

function contentOf(schema: TSchema, contentType = 'application/json'): object {
  return { [contentType]: { schema: withReferences(schema) } }
}

function errorsByStatus(route: Route): Map<number, [code: string, error: ErrorCode][]> {
  const errors = { ...commonErrors(route), ...route.errors }
  return Map.groupBy(Object.entries(errors), ([, { status }]) => status)
}

/** The common errors that apply to this operation. */
function commonErrors(route: Route): ErrorCodes {
  const takesBody = route.method !== 'GET'
  const applies: Partial<Record<string, boolean>> = {
    malformed_json: takesBody,
    payload_too_large: takesBody,
    unsupported_media_type: takesBody,
    unauthenticated: route.access !== 'public',
    forbidden: Array.isArray(route.access) || isPolicy(route.access),
    read_only: isChange(route),
    route_not_found: false,
    method_not_allowed: false,
    idempotency_key_reused: takesIdempotencyKey(route),
  }
  const { idempotency_key_reused } = SHARED_ERRORS
  return Object.fromEntries(
    Object.entries({ ...COMMON_ERRORS, idempotency_key_reused }).filter(([code]) => applies[code] ?? true),
  )
}

function takesIdempotencyKey(route: Route): boolean {
  return route.method === 'POST' && route.access !== 'public' && isChange(route)
}
