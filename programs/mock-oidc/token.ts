import { noStoreJson, errorAnswer, type Answer } from './answers.ts'
import {
  type CheckFailure,
  type TokenCheck,
  clientAuthentication,
  clientId,
  clientSecret,
  code,
  issuedTo,
  redirectUri,
  refreshToken,
  scope,
  pkce,
  body,
  contentType,
  grantType,
  scenario,
} from './token-checks.ts'
import { ACCESS_TOKEN_LIFETIME_MS, type Authorization, type Grant } from './grants.ts'
import { subjectOf } from './identity.ts'
import { accessTokenHash } from './keys.ts'
import type { EndpointRequest, Provider } from './provider.ts'
import { readTokenExchange, isGrantType, type TokenExchange, type GrantType } from './token-exchange.ts'

const EXPIRES_IN = ACCESS_TOKEN_LIFETIME_MS / 1_000

/** `POST /token`: exchanges a code or a refresh token. No await between the checks and `used`: one exchange wins. */
export function token(provider: Provider, request: EndpointRequest): Answer | Promise<Answer> {
  const exchange = readTokenExchange(request, provider)
  const refusal = findRefusal(exchange)
  const { grant } = exchange
  if (refusal || !grant)
    return refusal ?? Promise.reject(new Error('The checks of /token passed without a grant.'))
  grant.used = true
  return issue(provider, exchange, grant)
}

/** Makes the code in the request expire now. */
export function expirePresentedCode(provider: Provider, request: EndpointRequest): void {
  const { grant } = readTokenExchange(request, provider)
  if (grant) provider.grants.expire(grant)
}

function issue(
  provider: Provider,
  exchange: TokenExchange,
  { authorization }: Grant,
): Answer | Promise<Answer> {
  const { accessToken, refreshToken } = provider.grants.issueTokens(authorization)
  const scope = exchange.parameter('scope') ?? authorization.scope
  const tokens = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: EXPIRES_IN,
    refresh_token: refreshToken,
    scope,
  }
  if (!scope.split(' ').includes('openid')) return noStoreJson(JSON.stringify(tokens))
  return withIdToken(tokens, idTokenClaims(provider, exchange, authorization, accessToken), provider)
}

async function withIdToken(
  tokens: object,
  claims: Readonly<Record<string, unknown>>,
  { keys }: Provider,
): Promise<Answer> {
  return noStoreJson(JSON.stringify({ ...tokens, id_token: await keys.sign(claims) }))
}

/** OIDC Core, section 2; a refreshed id_token has no nonce (section 12.2). */
function idTokenClaims(
  { issuer, config, clock }: Provider,
  exchange: TokenExchange,
  { nonce, authorizedAt }: Authorization,
  accessToken: string,
): Readonly<Record<string, unknown>> {
  const issuedAt = Math.floor(clock.now() / 1_000)
  return {
    iss: issuer,
    sub: subjectOf(config.user),
    aud: config.clientId,
    iat: issuedAt,
    exp: issuedAt + EXPIRES_IN,
    auth_time: Math.floor(authorizedAt / 1_000),
    nonce: exchange.parameter('grant_type') === 'authorization_code' ? nonce : undefined,
    at_hash: accessTokenHash(accessToken),
  }
}

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
function findRefusal(exchange: TokenExchange): Answer | undefined {
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
