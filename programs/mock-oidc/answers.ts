/** What a client is told, before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Why it is not what the client wanted, for the log. */
  readonly refusal?: Refusal
}

/** The error codes of RFC 6749 (4.1.2.1 and 5.2) and RFC 6750 that are used here; then those of HTTP itself. */
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
  /** Which check failed; the description begins with it. */
  readonly check: string
  readonly error: ErrorName
  /** The number that Feishu gives for it (protocols, section 3.1), where it has one. */
  readonly code?: number | undefined
}

const JSON_TYPE = 'application/json; charset=utf-8'
// RFC 6749, section 5.1
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const JSON_HEADERS = { 'Content-Type': JSON_TYPE }
const JSON_NO_STORE = { 'Content-Type': JSON_TYPE, ...NO_STORE }

/** An answer that may be kept by whoever gets it. */
export function publicJson(body: string): Answer {
  return { status: 200, headers: JSON_HEADERS, body }
}

export function privateJson(body: string): Answer {
  return { status: 200, headers: JSON_NO_STORE, body }
}

export function redirectTo(location: string, refusal?: Refusal): Answer {
  const answer = { status: 302, headers: { Location: location, ...NO_STORE }, body: '' }
  return refusal ? { ...answer, refusal } : answer
}

/** `{error, error_description, code?}`, the description beginning with the check that failed. */
export function refused(
  status: number,
  refusal: Refusal,
  because: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const { check, error, code } = refusal
  const body = JSON.stringify({ error, error_description: `${check}: ${because}`, code })
  return { status, headers: { ...JSON_NO_STORE, ...headers }, body, refusal }
}

export function empty(status: number, headers: Readonly<Record<string, string>>): Answer {
  return { status, headers, body: '' }
}
