/** An HTTP response before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The failed check of an error response, for the log. */
  readonly refusal?: Refusal
}

/** Error codes of RFC 6749 (sections 4.1.2.1 and 5.2) and RFC 6750, then three for HTTP errors. */
type ErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'invalid_token'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'

export interface Refusal {
  /** Name of the failed check; `error_description` begins with it. */
  readonly check: string
  readonly error: ErrorName
  /** Feishu's number for this error, if it has one. */
  readonly code?: number | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'
// RFC 6749, section 5.1
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const JSON_HEADERS = { 'Content-Type': JSON_TYPE }
const JSON_NO_STORE = { 'Content-Type': JSON_TYPE, ...NO_STORE }

export function cacheableJson(body: string): Answer {
  return { status: 200, headers: JSON_HEADERS, body }
}

export function noStoreJson(body: string): Answer {
  return { status: 200, headers: JSON_NO_STORE, body }
}

export function redirectTo(location: string, refusal?: Refusal): Answer {
  const answer = { status: 302, headers: { Location: location, ...NO_STORE }, body: '' }
  return refusal ? { ...answer, refusal } : answer
}

/** The body is `{error, error_description, code?}`; the description is `<check>: <reason>`. */
export function errorAnswer(
  status: number,
  refusal: Refusal,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const { check, error, code } = refusal
  const body = JSON.stringify({ error, error_description: `${check}: ${reason}`, code })
  return { status, headers: { ...JSON_NO_STORE, ...headers }, body, refusal }
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>>): Answer {
  return { status, headers, body: '' }
}
