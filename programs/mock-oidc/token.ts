import { privateJson, type Answer } from './answers.ts'
import { ACCESS_TOKEN_LIFETIME_MS, type Authorization, type Grant } from './grants.ts'
import { subjectOf } from './identity.ts'
import { accessTokenHash } from './keys.ts'
import { refusalOf } from './token-checks.ts'
import { readTokenExchange, type TokenExchange } from './token-exchange.ts'
import type { EndpointRequest, Provider } from './provider.ts'

const EXPIRES_IN = ACCESS_TOKEN_LIFETIME_MS / 1_000

/** `POST /token`: a code, or a refresh token, for tokens. Between the checks and the consumption nothing waits. */
export function token(provider: Provider, request: EndpointRequest): Answer | Promise<Answer> {
  const exchange = readTokenExchange(request, provider)
  const refusal = refusalOf(exchange)
  const { grant } = exchange
  if (refusal || !grant)
    return refusal ?? Promise.reject(new Error('The checks of /token let no grant through.'))
  grant.used = true
  return issue(provider, exchange, grant)
}

/** Ends the time of the code that a request presents. */
export function expirePresented(provider: Provider, request: EndpointRequest): void {
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
  if (!scope.split(' ').includes('openid')) return privateJson(JSON.stringify(tokens))
  return withIdToken(tokens, claimsOf(provider, exchange, authorization, accessToken), provider)
}

async function withIdToken(
  tokens: object,
  claims: Readonly<Record<string, unknown>>,
  { keys }: Provider,
): Promise<Answer> {
  return privateJson(JSON.stringify({ ...tokens, id_token: await keys.sign(claims) }))
}

/** OIDC Core, section 2; a refreshed id_token has no nonce (section 12.2). */
function claimsOf(
  { issuer, config, clock }: Provider,
  exchange: TokenExchange,
  { nonce, at }: Authorization,
  accessToken: string,
): Readonly<Record<string, unknown>> {
  const issuedAt = Math.floor(clock.now() / 1_000)
  return {
    iss: issuer,
    sub: subjectOf(config.user),
    aud: config.clientId,
    iat: issuedAt,
    exp: issuedAt + EXPIRES_IN,
    auth_time: Math.floor(at / 1_000),
    nonce: exchange.parameter('grant_type') === 'authorization_code' ? nonce : undefined,
    at_hash: accessTokenHash(accessToken),
  }
}
