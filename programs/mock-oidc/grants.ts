import type { Clock } from '../../src/kernel/clock.ts'
import { DAY, HOUR, MINUTE } from '../../src/kernel/time.ts'
import { Issued } from './issued.ts'

/** How many of each kind are remembered; the oldest go first. */
const KEPT = 10_000
const CODE_LIFETIME_MS = 10 * MINUTE
// contract, section 6: expires_in 7200
export const ACCESS_TOKEN_LIFETIME_MS = 2 * HOUR
// protocols, section 3.1: refresh_token_expires_in 604800
const REFRESH_TOKEN_LIFETIME_MS = 7 * DAY

/** What was asked for at `/authorize`. */
export interface Authorization {
  readonly clientId: string | undefined
  readonly redirectUri: string
  /** Whether the client named it, and has to name it again. */
  readonly redirectUriGiven: boolean
  readonly codeChallenge: string | undefined
  readonly codeChallengeMethod: string | undefined
  readonly scope: string
  readonly nonce: string | undefined
  /** Epoch milliseconds. */
  readonly at: number
}

/** A code or a refresh token: good once, for its time. It is remembered when used, to tell of a second use. */
export interface Grant {
  readonly authorization: Authorization
  used: boolean
  expiresAt: number
}

export type GrantState = 'good' | 'used' | 'expired'

/** Everything that was issued, in memory alone. */
export interface Grants {
  issueCode(authorization: Authorization): string
  issueTokens(authorization: Authorization): { accessToken: string; refreshToken: string }
  findCode(code: string): Grant | undefined
  findRefreshToken(token: string): Grant | undefined
  stateOf(grant: Grant): GrantState
  /** Ends the time of a grant now. */
  expire(grant: Grant): void
  accessTokenState(token: string): 'good' | 'expired' | 'unknown'
  /** How many things are remembered. */
  readonly size: number
}

export function createGrants(clock: Clock): Grants {
  const codes = new Issued<Grant>(KEPT, 'code-')
  const refreshTokens = new Issued<Grant>(KEPT, 'ur-')
  const accessTokens = new Issued<number>(KEPT, 'u-')
  const inFuture = (lifetimeMs: number) => clock.monotonic() + lifetimeMs
  const isOver = (expiresAt: number) => clock.monotonic() >= expiresAt

  return {
    issueCode: (authorization) =>
      codes.add({ authorization, used: false, expiresAt: inFuture(CODE_LIFETIME_MS) }),
    issueTokens: (authorization) => ({
      accessToken: accessTokens.add(inFuture(ACCESS_TOKEN_LIFETIME_MS)),
      refreshToken: refreshTokens.add({
        authorization,
        used: false,
        expiresAt: inFuture(REFRESH_TOKEN_LIFETIME_MS),
      }),
    }),
    findCode: (code) => codes.get(code),
    findRefreshToken: (token) => refreshTokens.get(token),
    stateOf(grant) {
      if (grant.used) return 'used'
      return isOver(grant.expiresAt) ? 'expired' : 'good'
    },
    expire(grant) {
      grant.expiresAt = clock.monotonic()
    },
    accessTokenState(token) {
      const expiresAt = accessTokens.get(token)
      if (expiresAt === undefined) return 'unknown'
      return isOver(expiresAt) ? 'expired' : 'good'
    },
    get size() {
      return codes.size + refreshTokens.size + accessTokens.size
    },
  }
}
