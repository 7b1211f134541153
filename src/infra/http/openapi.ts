import { Type, type TSchema } from 'typebox'
import { COMMON_ERRORS, SHARED_ERRORS, type ErrorCode, type ErrorCodes } from '../../wire/error-codes.ts'
import { isChange, type AnswerSchema, type Route } from '../../wire/route.ts'
import { ErrorBody } from '../../wire/schemas.ts'

/** What the OpenAPI document says before its operations. */
export function openApiInfo(version: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backend platform',
      version,
      description:
        'Orders, messages, alerts and users of the platform. Times are RFC 3339 UTC. Errors are `{code, message}`; ' +
        'any POST may carry an `Idempotency-Key`, and every answer carries an `X-Request-Id`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as const,
        localTool: {
          type: 'apiKey',
          in: 'header',
          name: 'X-User-ID',
          description: 'With X-User-Roles; only from a trusted peer on the same host.',
        } as const,
      },
    },
  }
}

/** The framework's schema of a route, which is also its entry in the OpenAPI document. */
export function routeSchema(route: Route): Record<string, unknown> {
  const { access, params, query, body } = route
  return {
    operationId: route.operation,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, accessSentence(route)].filter(Boolean).join('\n\n'),
    security: access === 'public' ? [] : [{ token: [] }, { localTool: [] }],
    'x-roles': access === 'public' || access === 'authenticated' ? access : [...access],
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    ...headers(route),
    response: responses(route),
  }
}

const IDEMPOTENCY_KEY = Type.String({
  pattern: '^[\\x20-\\x7e]{1,128}$',
  description:
    'For 24 hours the same key with the same request gets the first answer again. Printable ASCII.',
})
const IF_MATCH = Type.String({
  maxLength: 16_384,
  examples: ['"1"', '*'],
  description: 'The `ETag` of the version that is meant, several of them, or `*`; another version is 412.',
})

/** The headers that mean something to an operation, by what it does and how it may fail. */
function headers(route: Route): { headers?: TSchema } {
  const known = {
    ...(takesIdempotencyKey(route) && { 'Idempotency-Key': Type.Optional(IDEMPOTENCY_KEY) }),
    ...(route.errors?.['precondition_failed'] && { 'If-Match': Type.Optional(IF_MATCH) }),
  }
  return Object.keys(known).length > 0 ? { headers: Type.Object(known) } : {}
}

/** The schemas of answers that have a name, each once; others refer to them. */
export function namedSchemas(routes: readonly Route[]): NamedSchema[] {
  const byName = new Map<string, NamedSchema>()
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    if (isNamed(schema)) byName.set(schema.$id, { ...membersReferring(schema), $id: schema.$id })
    Object.values(schema).forEach(collect)
  }
  for (const { answers } of routes) for (const { schema } of Object.values(answers)) collect(schema)
  collect(ErrorBody)
  return [...byName.values()]
}

interface NamedSchema {
  readonly $id: string
}

function isNamed(schema: object): schema is NamedSchema {
  return '$id' in schema && typeof schema.$id === 'string'
}

/** The schema with a reference in the place of each one that has a name. */
function referring(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(referring)
  if (typeof schema !== 'object' || schema === null) return schema
  return isNamed(schema) ? { $ref: `${schema.$id}#` } : membersReferring(schema)
}

function membersReferring(schema: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, referring(member)]))
}

function accessSentence({ access }: Route): string {
  if (access === 'public') return 'Public.'
  if (access === 'authenticated') return 'For every caller who is known.'
  return `For the roles ${access.join(', ')}.`
}

interface DescribedAnswer {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>
  /** To the framework an answer without content is of this type. */
  readonly type?: 'null'
}

function responses(route: Route): Record<number, DescribedAnswer> {
  const answers: Record<number, DescribedAnswer> = {}
  for (const [status, codes] of errorsByStatus(route)) {
    const description = codes.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join('\n\n')
    answers[status] = describedAnswer({ description, schema: ErrorBody })
  }
  for (const [status, answer] of Object.entries(route.answers)) {
    answers[Number(status)] = describedAnswer(answer)
  }
  return answers
}

function describedAnswer({
  description,
  schema,
  contentType = 'application/json',
}: AnswerSchema): DescribedAnswer {
  if (!schema) return { description, type: 'null' }
  return { description, content: { [contentType]: { schema: referring(schema) } } }
}

function errorsByStatus(route: Route): Map<number, [code: string, error: ErrorCode][]> {
  const errors = { ...commonErrors(route), ...route.errors }
  return Map.groupBy(Object.entries(errors), ([, { status }]) => status)
}

/** The errors that any operation may answer with, without those that this one cannot. */
function commonErrors(route: Route): ErrorCodes {
  const takesBody = route.method !== 'GET'
  const applies: Partial<Record<string, boolean>> = {
    malformed_json: takesBody,
    payload_too_large: takesBody,
    unsupported_media_type: takesBody,
    unauthenticated: route.access !== 'public',
    forbidden: Array.isArray(route.access),
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
