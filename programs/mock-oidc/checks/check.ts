import type { Refusal } from '../answers.ts'
import type { TokenExchange } from '../token-exchange.ts'

/** One thing that must hold before tokens are given. */
export interface TokenCheck {
  /** Begins the description of its refusal. */
  readonly name: string
  /** Undefined when all is well. */
  judge(exchange: TokenExchange): Objection | undefined
}

export interface Objection {
  readonly status: number
  readonly error: Refusal['error']
  readonly code?: number | undefined
  /** RFC 6749, section 5.2: neither a quote nor a backslash; and nothing that the client sent. */
  readonly because: string
}

/** The numbers and their errors: protocols, sections 3.1 and 3.2. A wrong client is 401 (contract, section 6). */
export const objection =
  (status: number, error: Refusal['error']) =>
  (because: string, code?: number): Objection => ({ status, error, code, because })

export const badRequest = objection(400, 'invalid_request')
export const badGrant = objection(400, 'invalid_grant')
export const badClient = objection(401, 'invalid_client')
export const missing = (name: string): Objection => badRequest(`${name} is missing`, 20001)
