import type { WaitingClock } from '../../src/kernel/clock.ts'
import { errorMessage } from '../../src/kernel/errors.ts'
import { backoffMs } from '../../src/kernel/waiting.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import { jsonMembersOf } from '../../src/kernel/text.ts'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'

export type ReadToken = () => Secret | Promise<Secret>

/** Reading a file costs little, and a new token should be used soon after it was written. */
const READ_AGAIN = { initialMs: SECOND, maximumMs: 5 * SECOND }

/** A clock may have been wrong, at the gateway or here: then the same token becomes valid by itself. */
const RETRY_REFUSED_MS = 5 * MINUTE

/** RFC 6750, section 2.1: what may follow `Bearer`. Anything else would break the header. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/

/** The token of the client, which a program or a person may replace at any time. */
export class TokenSource {
  readonly #readToken: ReadToken
  readonly #clock: WaitingClock
  #refused: { readonly token: string; readonly at: number } | undefined

  constructor(readToken: ReadToken, clock: WaitingClock) {
    this.#readToken = readToken
    this.#clock = clock
  }

  /** The present token; throws, without repeating the text, when there is none. */
  async read(): Promise<Secret> {
    const token = await this.#readToken()
    if (!BEARER.test(token.reveal())) throw new Error('the text is not a token')
    return token
  }

  /** {@link TokenSource.read}, but waits while it is the token that was refused last. Resolves at once when aborted. */
  async next(signal: AbortSignal, onWaiting: () => void): Promise<Secret> {
    let token = await this.read()
    if (this.#isRefused(token)) onWaiting()
    for (let attempt = 0; this.#isRefused(token) && !signal.aborted; attempt += 1) {
      await this.#clock.wait(
        backoffMs(READ_AGAIN, attempt, () => 1),
        signal,
      )
      token = await this.read()
    }
    return token
  }

  /** The gateways refused this token. */
  markRefused(token: Secret): void {
    this.#refused = { token: token.reveal(), at: this.#clock.monotonic() }
  }

  #isRefused(token: Secret): boolean {
    const refused = this.#refused
    if (refused?.token !== token.reveal()) return false
    return this.#clock.monotonic() - refused.at < RETRY_REFUSED_MS
  }
}

/** Whether a token expires later than another, as far as the tokens say; text that is no JWT is never newer. */
export function isNewer(candidate: Secret, current: Secret): boolean {
  const expiry = expiryOf(candidate)
  return expiry !== undefined && expiry > (expiryOf(current) ?? 0)
}

/** The time at which a JWT expires, in seconds, as it says itself; undefined for other text. */
export function expiryOf(token: Secret): number | undefined {
  const [, payload = ''] = token.reveal().split('.')
  const { exp } = jsonMembersOf(Buffer.from(payload, 'base64url').toString())
  return typeof exp === 'number' ? exp : undefined
}

/** The text with every occurrence of the token redacted. */
export function withoutToken(text: string, token: Secret): string {
  return text.replaceAll(token.reveal(), String(token))
}

/** Why there is no token. */
export function tokenProblem(error: unknown): string {
  return `the token cannot be read: ${errorMessage(error)}`
}
