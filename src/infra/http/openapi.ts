import type { TSchema } from 'typebox'
import { COMMON_ERRORS, ERROR_CODES, type ErrorCode } from '../../wire/error-codes.ts'
import type { Route } from '../../wire/route.ts'
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
          description: 'With X-User-Roles; only from a trusted peer on the same host (contract, Identity).',
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
    response: responses(route),
  }
}

function accessSentence({ access }: Route): string {
  if (access === 'public') return 'Public.'
  if (access === 'authenticated') return 'For every caller who is known.'
  return `For the roles ${access.join(', ')}.`
}

function responses(route: Route): Record<number, { description: string } & TSchema> {
  const answers: Record<number, { description: string } & TSchema> = {}
  for (const [status, codes] of errorsByStatus(route)) {
    answers[status] = {
      ...ErrorBody,
      description: codes.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join('\n\n'),
    }
  }
  for (const [status, { description, schema }] of Object.entries(route.answers)) {
    answers[Number(status)] = { ...(schema ?? { type: 'null' }), description }
  }
  return answers
}

function errorsByStatus(route: Route): Map<number, [string, ErrorCode][]> {
  const byStatus = new Map<number, [string, ErrorCode][]>()
  for (const code of [...commonErrors(route), ...(route.errors ?? [])]) {
    const error = ERROR_CODES[code]
    if (error) byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), [code, error]])
  }
  return byStatus
}

/** Which of the errors that any operation may have this one can have. */
function commonErrors({ access, body, method, params, query }: Route): string[] {
  const applies: Partial<Record<keyof typeof COMMON_ERRORS, boolean>> = {
    malformed_json: body !== undefined,
    payload_too_large: body !== undefined,
    unsupported_media_type: body !== undefined,
    validation_failed: Boolean(body ?? params ?? query),
    unauthenticated: access !== 'public',
    forbidden: Array.isArray(access),
    read_only: method !== 'GET',
    route_not_found: false,
    method_not_allowed: false,
  }
  return Object.keys(COMMON_ERRORS).filter((code) => applies[code as keyof typeof COMMON_ERRORS] ?? true)
}
