import { AppError, type ErrorKind, type TokenFault, errorCode } from '../../kernel/errors.ts'
import { helpLink } from '../../wire/error-codes.ts'
import type { Answer } from '../../wire/route.ts'

/** HTTP status of each kind of error (docs/specification.md, HTTP API). */
const STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
}

/** Errors of the HTTP framework itself, by their code. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [ErrorKind, code: string, message: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'too_large',
    'payload_too_large',
    'The body is larger than the operation takes.',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'unsupported_media_type',
    'The body must be sent as application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid',
    'malformed_json',
    'The body is not as long as Content-Length says.',
  ],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: [
    'unsupported_media_type',
    'unsupported_media_type',
    'The body must be sent as application/json.',
  ],
  FST_ERR_BAD_URL: ['invalid', 'validation_failed', 'The path is not a well-formed URL path.'],
}

/** Ends the work for a client that has closed its connection. Nobody gets an answer. */
export class ClientLeft extends Error {
  constructor() {
    super('The client has closed its connection.')
  }
}

/** The error that the caller gets. An unknown one becomes `internal`, without its cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const known = FRAMEWORK_ERRORS[errorCode(error) ?? '']
  if (known) return new AppError(known[0], known[1], known[2], { cause: error })
  return new AppError(
    'internal',
    'internal',
    'The platform failed to answer; its log has the cause under the request id.',
    { cause: error },
  )
}

/** The error as an answer: status, headers and the body `{code, message, details?}`. */
export function errorAnswer({
  kind,
  code,
  message,
  details,
  values,
  retryAfterSeconds,
  tokenFault,
}: AppError): Answer {
  const headers: Record<string, string> = { ...helpLink(code) }
  if (kind === 'unauthenticated') headers['www-authenticate'] = challengeOf(tokenFault)
  if (retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)))
  if (kind === 'precondition_failed' && typeof values?.['etag'] === 'string') headers['etag'] = values['etag']
  return {
    status: STATUS[kind],
    body: { code, message, ...(details && { details }), ...(values && { values }) },
    headers,
  }
}

/** RFC 6750, section 3. */
function challengeOf(fault: TokenFault | undefined): string {
  if (fault === undefined) return 'Bearer'
  const challenge = 'Bearer error="invalid_token"'
  return fault === 'invalid' ? challenge : `${challenge}, error_description="${fault}"`
}
