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
export class Grants {
  readonly #clock: Clock
  readonly #codes = new TokenStore<Grant>(MAX_REMEMBERED, 'code-')
  readonly #refreshTokens = new TokenStore<Grant>(MAX_REMEMBERED, 'ur-')
  readonly #accessTokens = new TokenStore<number>(MAX_REMEMBERED, 'u-')

  constructor(clock: Clock) {
    this.#clock = clock
  }

  issueCode(authorization: Authorization): string {
    return this.#codes.issue(this.#newGrant(authorization, CODE_LIFETIME_MS))
  }

  issueTokens(authorization: Authorization) {
    return {
      accessToken: this.#accessTokens.issue(this.#clock.monotonic() + ACCESS_TOKEN_LIFETIME_MS),
      refreshToken: this.#refreshTokens.issue(this.#newGrant(authorization, REFRESH_TOKEN_LIFETIME_MS)),
    }
  }

  findCode(code: string): Grant | undefined {
    return this.#codes.find(code)
  }

  findRefreshToken(token: string): Grant | undefined {
    return this.#refreshTokens.find(token)
  }

  stateOf({ used, expiresAt }: Grant): GrantState {
    if (used) return 'used'
    return this.#isPast(expiresAt) ? 'expired' : 'good'
  }

  /** Makes the grant expire now. */
  expire(grant: Grant): void {
    grant.expiresAt = this.#clock.monotonic()
  }

  accessTokenState(token: string): 'good' | 'expired' | 'unknown' {
    const expiresAt = this.#accessTokens.find(token)
    if (expiresAt === undefined) return 'unknown'
    return this.#isPast(expiresAt) ? 'expired' : 'good'
  }

  /** Number of codes and tokens in memory. */
  get size(): number {
    return this.#codes.size + this.#refreshTokens.size + this.#accessTokens.size
  }

  #newGrant(authorization: Authorization, lifetimeMs: number): Grant {
    return { authorization, used: false, expiresAt: this.#clock.monotonic() + lifetimeMs }
  }

  #isPast(expiresAt: number): boolean {
    return this.#clock.monotonic() >= expiresAt
  }
}
