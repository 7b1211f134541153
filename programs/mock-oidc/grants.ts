import type { Clock } from '../../src/kernel/clock.ts'
import { DAY, HOUR, MINUTE } from '../../src/kernel/time.ts'
import { TokenStore } from './token-store.ts'

/** Entries of each kind; the oldest are dropped first. */
const MAX_REMEMBERED = 10_000
const CODE_LIFETIME_MS = 10 * MINUTE
// docs/specification.md, Mock provider: expires_in 7200
export const ACCESS_TOKEN_LIFETIME_MS = 2 * HOUR
// As long as Feishu's
const REFRESH_TOKEN_LIFETIME_MS = 7 * DAY

/** The parameters of a request to `/authorize` that `/token` needs. */
export interface Authorization {
  readonly clientId: string | undefined
  readonly redirectUri: string
  /** Whether the request had a `redirect_uri`: `/token` then requires it, too. */
  readonly hasRedirectUri: boolean
  readonly codeChallenge: string | undefined
  readonly codeChallengeMethod: string | undefined
  readonly scope: string
  readonly nonce: string | undefined
  /** Epoch milliseconds. */
  readonly authorizedAt: number
}

/** A code or a refresh token. A used one stays in memory: presented again it is `used`, not unknown. */
export interface Grant {
  readonly authorization: Authorization
  used: boolean
  expiresAt: number
}

export type GrantState = 'good' | 'used' | 'expired'

/** The codes and tokens that were issued, in memory only. */
export interface Grants {
  issueCode(authorization: Authorization): string
  issueTokens(authorization: Authorization): { accessToken: string; refreshToken: string }
  findCode(code: string): Grant | undefined
  findRefreshToken(token: string): Grant | undefined
  stateOf(grant: Grant): GrantState
  /** Makes the grant expire now. */
  expire(grant: Grant): void
  accessTokenState(token: string): 'good' | 'expired' | 'unknown'
  /** Number of codes and tokens in memory. */
  readonly size: number
}

export function createGrants(clock: Clock): Grants {
  const codes = new TokenStore<Grant>(MAX_REMEMBERED, 'code-')
  const refreshTokens = new TokenStore<Grant>(MAX_REMEMBERED, 'ur-')
  const accessTokens = new TokenStore<number>(MAX_REMEMBERED, 'u-')
  const expiryAfter = (lifetimeMs: number) => clock.monotonic() + lifetimeMs
  const isPast = (expiresAt: number) => clock.monotonic() >= expiresAt

  return {
    issueCode: (authorization) =>
      codes.issue({ authorization, used: false, expiresAt: expiryAfter(CODE_LIFETIME_MS) }),
    issueTokens: (authorization) => ({
      accessToken: accessTokens.issue(expiryAfter(ACCESS_TOKEN_LIFETIME_MS)),
      refreshToken: refreshTokens.issue({
        authorization,
        used: false,
        expiresAt: expiryAfter(REFRESH_TOKEN_LIFETIME_MS),
      }),
    }),
    findCode: (code) => codes.find(code),
    findRefreshToken: (token) => refreshTokens.find(token),
    stateOf(grant) {
      if (grant.used) return 'used'
      return isPast(grant.expiresAt) ? 'expired' : 'good'
    },
    expire(grant) {
      grant.expiresAt = clock.monotonic()
    },
    accessTokenState(token) {
      const expiresAt = accessTokens.find(token)
      if (expiresAt === undefined) return 'unknown'
      return isPast(expiresAt) ? 'expired' : 'good'
    },
    get size() {
      return codes.size + refreshTokens.size + accessTokens.size
    },
  }
}
