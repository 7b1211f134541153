import { cacheableJson, type Answer } from './answers.ts'
import { PATHS } from './endpoint-names.ts'
import type { Provider } from './provider.ts'
import { GRANT_TYPES } from './token-exchange.ts'

/** `GET /.well-known/openid-configuration` (OIDC Discovery, section 3). */
export function discovery({ issuer }: Provider): Answer {
  const at = (path: string) => `${issuer.replace(/\/$/, '')}${path}`
  return cacheableJson(
    JSON.stringify({
      issuer,
      authorization_endpoint: at(PATHS.authorize),
      token_endpoint: at(PATHS.token),
      userinfo_endpoint: at(PATHS.userinfo),
      jwks_uri: at(PATHS.jwks),
      end_session_endpoint: at(PATHS.end_session),
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: GRANT_TYPES,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
      claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'nonce', 'at_hash'],
    }),
  )
}

/** `GET /jwks`: the public keys of the id_tokens. */
export async function jwks({ keys }: Provider): Promise<Answer> {
  return cacheableJson(await keys.jwks())
}
