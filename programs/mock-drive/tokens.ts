import type { Clock } from '../../src/kernel/clock.ts'
import { DAY } from '../../src/kernel/time.ts'
import { randomText } from './random-text.ts'

const REFRESH_TOKEN_LIFETIME_MS = 90 * DAY
// The oldest are forgotten first.
const MAX_TOKENS = 1_000

export type AccessTokenState = 'valid' | 'expired' | 'unknown'

export interface TokenPair {
  readonly accessToken: string
  readonly refreshToken: string
}

/** The tokens by their texts, with the end of their lives; the form in which they are stored. */
export interface StoredTokens {
  readonly access: readonly (readonly [string, number])[]
  readonly refresh: readonly (readonly [string, number])[]
}

/** Access tokens, and refresh tokens that are valid once. */
export class Tokens {
  readonly #clock: Clock
  readonly #lifetimeMs: number
  readonly #access = new Map<string, number>()
  readonly #refresh = new Map<string, number>()

  constructor(clock: Clock, lifetimeMs: number) {
    this.#clock = clock
    this.#lifetimeMs = lifetimeMs
  }

  addRefreshToken(token: string): void {
    remember(this.#refresh, token, this.#clock.now() + REFRESH_TOKEN_LIFETIME_MS)
  }

  issueRefreshToken(): string {
    const token = `dr-${randomText()}`
    this.addRefreshToken(token)
    return token
  }

  /** Uses the refresh token up, and returns its successors. */
  refresh(token: string): TokenPair | 'expired' | 'unknown' {
    const expiresAt = this.#refresh.get(token)
    if (expiresAt === undefined) return 'unknown'
    if (expiresAt <= this.#clock.now()) return 'expired'
    this.#refresh.delete(token)
    const pair = { accessToken: `da-${randomText()}`, refreshToken: this.issueRefreshToken() }
    remember(this.#access, pair.accessToken, this.#clock.now() + this.#lifetimeMs)
    return pair
  }

  accessTokenState(token: string): AccessTokenState {
    const expiresAt = this.#access.get(token)
    if (expiresAt === undefined) return 'unknown'
    return expiresAt > this.#clock.now() ? 'valid' : 'expired'
  }

  /** Makes a valid access token expire now. */
  expire(token: string): void {
    if (this.#access.has(token)) this.#access.set(token, this.#clock.now())
  }

  /** As when the user withdraws the permission: no token is valid any more. */
  revokeAll(): void {
    this.#access.clear()
    this.#refresh.clear()
  }

  toStored(): StoredTokens {
    return { access: [...this.#access], refresh: [...this.#refresh] }
  }

  restore({ access, refresh }: StoredTokens): void {
    for (const [token, expiresAt] of access) this.#access.set(token, expiresAt)
    for (const [token, expiresAt] of refresh) this.#refresh.set(token, expiresAt)
  }
}

function remember(tokens: Map<string, number>, token: string, expiresAt: number): void {
  tokens.set(token, expiresAt)
  for (const oldest of tokens.keys()) {
    if (tokens.size <= MAX_TOKENS) return
    tokens.delete(oldest)
  }
}
