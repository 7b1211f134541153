/** What a code of an error body means, with its HTTP status (contract, section 3). */
export interface ErrorCode {
  readonly status: number
  readonly meaning: string
}

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
} as const satisfies Record<string, ErrorCode>

/** Errors of particular operations. */
export const SPECIFIC_ERRORS = {
  api_unavailable: {
    status: 503,
    meaning: 'At a gateway: the api behind it does not answer; whether it did what was asked is not known.',
  },
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  draining: { status: 503, meaning: 'At a gateway: it is stopping; connect to another one.' },
  forbidden_variable: { status: 400, meaning: 'The text names a variable that no alert may carry.' },
  idempotency_key_reused: { status: 409, meaning: 'The Idempotency-Key was used before with another body.' },
  invalid_credentials: { status: 401, meaning: 'The name or the password is wrong.' },
  invalid_transition: {
    status: 409,
    meaning: 'The thing cannot go there from where it is; the message names the moves there are.',
  },
  last_admin: { status: 409, meaning: 'Nobody could administer the platform any more.' },
  message_not_found: { status: 404, meaning: 'There is no such message.' },
  order_exists: { status: 409, meaning: 'Another order has this order_id.' },
  order_not_found: { status: 404, meaning: 'There is no such order.' },
  pool_exhausted: { status: 503, meaning: 'At a gateway: no virtual address is free; try again later.' },
  precondition_failed: {
    status: 412,
    meaning: 'The thing has changed since the version that `If-Match` names.',
  },
  session_not_found: { status: 404, meaning: 'There is no such session.' },
  upgrade_required: { status: 426, meaning: 'At a gateway: the path is for WebSocket connections.' },
  user_exists: { status: 409, meaning: 'Another user has this name.' },
  user_not_found: { status: 404, meaning: 'There is no such user.' },
} as const satisfies Record<string, ErrorCode>

export const ERROR_CODES: Readonly<Record<string, ErrorCode>> = { ...COMMON_ERRORS, ...SPECIFIC_ERRORS }
export type SpecificErrorCode = keyof typeof SPECIFIC_ERRORS
