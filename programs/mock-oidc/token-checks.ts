import { refused, type Answer } from './answers.ts'
import type { Objection, TokenCheck } from './checks/check.ts'
import { clientAuthentication, clientId, clientSecret } from './checks/client-checks.ts'
import { code, issuedTo, redirectUri, refreshToken, scope } from './checks/grant-checks.ts'
import { pkce } from './checks/pkce.ts'
import { body, contentType, grantType, scenario } from './checks/request-checks.ts'
import { isGrantType, type GrantType, type TokenExchange } from './token-exchange.ts'

const OF_EVERY_REQUEST = [scenario, contentType, body, grantType]

/** The checks of each grant type, in the order of the specification; the first that objects is answered. */
export const TOKEN_CHECKS: Readonly<Record<GrantType, readonly TokenCheck[]>> = {
  authorization_code: [
    ...OF_EVERY_REQUEST,
    code,
    clientAuthentication,
    clientId,
    issuedTo,
    clientSecret,
    redirectUri,
    pkce,
  ],
  refresh_token: [...OF_EVERY_REQUEST, refreshToken, clientAuthentication, clientId, clientSecret, scope],
}

// RFC 6749, section 5.2: a client that failed in the Authorization header is challenged there.
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="mock oidc"' }

/** The answer of the first check that objects. */
export function refusalOf(exchange: TokenExchange): Answer | undefined {
  for (const check of checksFor(exchange.parameter('grant_type'))) {
    const found = check.judge(exchange)
    if (found) return toAnswer(check.name, found, exchange.client.inHeader)
  }
  return undefined
}

function checksFor(type: string | undefined): readonly TokenCheck[] {
  return isGrantType(type) ? TOKEN_CHECKS[type] : OF_EVERY_REQUEST
}

function toAnswer(
  check: string,
  { status, error, code: number, because }: Objection,
  inHeader: boolean,
): Answer {
  const headers = status === 401 && inHeader ? CHALLENGE : undefined
  return refused(status, { check, error, code: number }, because, headers)
}
