/** What a code of an error body means, with its HTTP status (docs/specification.md, HTTP API). */
export interface ErrorCode {
  readonly status: number
  readonly meaning: string
}

/** Error codes with what they mean. */
export type ErrorCodes = Readonly<Record<string, ErrorCode>>

/** Errors that any operation may answer with. */
export const COMMON_ERRORS = {
  malformed_json: { status: 400, meaning: 'The body is not JSON.' },
  validation_failed: {
    status: 400,
    meaning: 'A field is missing, unknown or not what it should be; `details` names each.',
  },
  unauthenticated: {
    status: 401,
    meaning: 'The caller is not known: no token, or one that is not valid now.',
  },
  forbidden: { status: 403, meaning: 'The caller has none of the roles that the operation asks for.' },
  route_not_found: { status: 404, meaning: 'There is no such path.' },
  method_not_allowed: { status: 405, meaning: 'The path knows other methods; `Allow` lists them.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than 1 MiB.' },
  unsupported_media_type: { status: 415, meaning: 'A body must be `application/json`.' },
  rate_limited: { status: 429, meaning: 'Too many calls; `Retry-After` says when to come back.' },
  internal: { status: 500, meaning: 'A fault of the platform; its log has the cause under the request id.' },
  read_only: { status: 503, meaning: 'The platform takes no changes at the moment.' },
  store_unavailable: { status: 503, meaning: 'The database cannot take the call now; try again.' },
} as const satisfies ErrorCodes

/** Errors that operations of several domains have. */
export const SHARED_ERRORS = {
  idempotency_key_reused: { status: 409, meaning: 'The Idempotency-Key was used before with another body.' },
  invalid_transition: {
    status: 409,
    meaning: 'The status cannot change like that; the message lists the allowed changes.',
  },
  precondition_failed: { status: 412, meaning: 'The resource has changed since the version in `If-Match`.' },
} as const satisfies ErrorCodes
