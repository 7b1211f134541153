import { errorAnswer, type Answer } from './answers.ts'
import type { CheckFailure, TokenCheck } from './checks/check.ts'
import { clientAuthentication, clientId, clientSecret } from './checks/client-checks.ts'
import { code, issuedTo, redirectUri, refreshToken, scope } from './checks/grant-checks.ts'
import { pkce } from './checks/pkce.ts'
import { body, contentType, grantType, scenario } from './checks/request-checks.ts'
import { isGrantType, type GrantType, type TokenExchange } from './token-exchange.ts'

const COMMON_CHECKS = [scenario, contentType, body, grantType]

/** The checks of each grant type, in the order of docs/specification.md, Mock provider. The first failure is answered. */
export const TOKEN_CHECKS: Readonly<Record<GrantType, readonly TokenCheck[]>> = {
  authorization_code: [
    ...COMMON_CHECKS,
    code,
    clientAuthentication,
    clientId,
    issuedTo,
    clientSecret,
    redirectUri,
    pkce,
  ],
  refresh_token: [...COMMON_CHECKS, refreshToken, clientAuthentication, clientId, clientSecret, scope],
}

// RFC 6749, section 5.2: for clients that authenticated in the Authorization header
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="mock oidc"' }

/** The answer of the first check that fails. */
export function findRefusal(exchange: TokenExchange): Answer | undefined {
  for (const check of checksFor(exchange.parameter('grant_type'))) {
    const failure = check.run(exchange)
    if (failure) return toAnswer(check.name, failure, exchange.client.inHeader)
  }
  return undefined
}

function checksFor(type: string | undefined): readonly TokenCheck[] {
  return isGrantType(type) ? TOKEN_CHECKS[type] : COMMON_CHECKS
}

function toAnswer(
  check: string,
  { status, error, code: number, reason }: CheckFailure,
  inHeader: boolean,
): Answer {
  const headers = status === 401 && inHeader ? CHALLENGE : undefined
  return errorAnswer(status, { check, error, code: number }, reason, headers)
}
