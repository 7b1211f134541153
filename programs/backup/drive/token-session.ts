import type { WaitingClock } from '../../../src/kernel/clock.ts'
import type { Secret } from '../../../src/kernel/secret.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { AUTHORISE_ANEW, BackupError } from '../errors.ts'
import type { DriveTokens, RenewedTokens, TokenFile } from './token-file.ts'

/** Exchanges a refresh token at the drive. `used` means that the drive does not know it (any more). */
export type ExchangeToken = (refreshToken: Secret) => Promise<RenewedTokens | 'used'>

// A token is renewed before it expires, so that a call that has begun can end. A short-lived one is used for half of its life.
const RENEW_BEFORE_MS = 200 * SECOND
// Another process that has renewed the tokens stores them within a moment.
const LOOK_AGAIN_MS = 200
const LOOK_AGAIN_TIMES = 15

export interface TokenSessionDeps {
  readonly file: TokenFile
  readonly exchange: ExchangeToken
  readonly clock: WaitingClock
}

/**
 * The access token, renewed when it is due. A refresh token is valid once: of two processes that renew at the same
 * moment the drive lets one win, and the other one finds the new tokens in the file.
 */
export class TokenSession {
  readonly #file: TokenFile
  readonly #exchange: ExchangeToken
  readonly #clock: WaitingClock
  #tokens: DriveTokens
  #renewal: Promise<Secret> | undefined

  /** Throws `token_unreadable`. */
  constructor({ file, exchange, clock }: TokenSessionDeps) {
    this.#file = file
    this.#exchange = exchange
    this.#clock = clock
    this.#tokens = file.read()
  }

  get driveId(): string {
    return this.#tokens.driveId
  }

  /** A token that does not expire within the next minutes. */
  async accessToken(): Promise<Secret> {
    if (this.#renewal) return this.#renewal
    return this.#isDue(this.#tokens) ? this.renew(this.#tokens.accessToken) : this.#tokens.accessToken
  }

  /** The token after the one that the drive has rejected. Calls at the same time share one renewal. */
  renew(rejected: Secret): Promise<Secret> {
    this.#renewal ??= this.#renew(rejected).finally(() => (this.#renewal = undefined))
    return this.#renewal
  }

  #isDue({ updatedAt, expiresInMs }: DriveTokens): boolean {
    const age = this.#clock.now() - updatedAt
    // A time in the future says nothing about the age.
    return age < 0 || age > expiresInMs - Math.min(RENEW_BEFORE_MS, expiresInMs / 2)
  }

  async #renew(rejected: Secret): Promise<Secret> {
    const stored = this.#file.read()
    if (stored.accessToken.reveal() !== rejected.reveal() && !this.#isDue(stored)) return this.#adopt(stored)
    // A token that was exchanged and cannot be stored is lost.
    this.#file.requireWritable()
    const renewed = await this.#exchange(stored.refreshToken)
    if (renewed === 'used') return this.#adopt(await this.#tokensOfWinner(stored))
    // Before anything else: the old refresh token is used up.
    this.#file.write(renewed, this.#clock.now())
    return this.#adopt(this.#file.read())
  }

  #adopt(tokens: DriveTokens): Secret {
    this.#tokens = tokens
    return tokens.accessToken
  }

  async #tokensOfWinner({ refreshToken }: DriveTokens): Promise<DriveTokens> {
    for (let looks = 0; looks < LOOK_AGAIN_TIMES; looks++) {
      const stored = this.#file.read()
      if (stored.refreshToken.reveal() !== refreshToken.reveal()) return stored
      await this.#clock.wait(LOOK_AGAIN_MS)
    }
    throw new BackupError('token_refresh_failed', `The drive rejected the refresh token; ${AUTHORISE_ANEW}.`)
  }
}
