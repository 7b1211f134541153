/** What a code of an error body means, with its HTTP status (docs/specification.md, HTTP API). */
export interface ErrorCode {
  readonly status: number
  readonly meaning: string
}

/** Error codes with what they mean. */
export type ErrorCodes = Readonly<Record<string, ErrorCode>>

/** The page with what each code means. */
export const ERRORS_PATH = '/docs/errors'

/** Leads from an answer with an error body to the meaning of its code (RFC 8288). */
export function helpLink(code: string): { readonly link: string } {
  return { link: `<${ERRORS_PATH}#${code}>; rel="help"` }
}

/** Errors of any operation. */
export const COMMON_ERRORS = {
  malformed_json: { status: 400, meaning: 'The body is not JSON.' },
  validation_failed: {
    status: 400,
    meaning: 'A field is missing, unknown or invalid; `details` lists each.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'The call has no token, or an invalid one.',
  },
  forbidden: { status: 403, meaning: 'The caller has none of the required roles.' },
  route_not_found: { status: 404, meaning: 'The path does not exist.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not have this method; `Allow` lists its methods.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than 1 MiB, or than 16 KiB for a public operation.',
  },
  unsupported_media_type: { status: 415, meaning: 'A body must be `application/json`.' },
  rate_limited: { status: 429, meaning: 'Too many calls; retry after the seconds in `Retry-After`.' },
  internal: { status: 500, meaning: 'An error of the platform; its log has the cause with the request id.' },
  read_only: { status: 503, meaning: 'The platform is read-only.' },
  store_unavailable: { status: 503, meaning: 'The database is unavailable; retry.' },
} as const satisfies ErrorCodes

/** Errors that operations of several domains have. */
export const SHARED_ERRORS = {
  forbidden_variable: { status: 400, meaning: 'The text contains a variable that is not allowed in alerts.' },
  idempotency_key_reused: { status: 409, meaning: 'The Idempotency-Key was used with a different request.' },
  invalid_transition: {
    status: 409,
    meaning: 'Invalid status change; the message lists the allowed ones.',
  },
  precondition_failed: { status: 412, meaning: 'The resource has changed since the version in `If-Match`.' },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The range begins behind the end of the file; `Content-Range` has its length.',
  },
  too_many_streams: {
    status: 503,
    meaning: 'The process has as many streams as it takes; retry after the seconds in `Retry-After`.',
  },
} as const satisfies ErrorCodes
