import type { Refusal } from '../answers.ts'
import type { TokenExchange } from '../token-exchange.ts'

/** One check of a request to `/token`. */
export interface TokenCheck {
  /** The first word of `error_description` when it fails. */
  readonly name: string
  /** Undefined when the request passes. */
  run(exchange: TokenExchange): CheckFailure | undefined
}

export interface CheckFailure {
  readonly status: number
  readonly error: Refusal['error']
  readonly code?: number | undefined
  /** RFC 6749, section 5.2: no quotes or backslashes. Never contains client input. */
  readonly reason: string
}

/** `code` is Feishu's number for the error. A wrong client is 401 (RFC 6749, section 5.2). */
export const checkFailure =
  (status: number, error: Refusal['error']) =>
  (reason: string, code?: number): CheckFailure => ({ status, error, code, reason })

export const invalidRequest = checkFailure(400, 'invalid_request')
export const invalidGrant = checkFailure(400, 'invalid_grant')
export const invalidClient = checkFailure(401, 'invalid_client')
export const missingParameter = (name: string): CheckFailure => invalidRequest(`${name} is missing`, 20001)
