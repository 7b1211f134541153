export interface Backoff {
  /** The first wait, in milliseconds. */
  readonly initialMs: number
  /** No wait is longer than this. */
  readonly maximumMs: number
}

/**
 * Milliseconds to wait before retry `attempt` (0 = the first one): exponential up to the maximum, with jitter over the
 * upper half, so that clients that failed at the same time do not retry at the same time.
 */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(backoff.maximumMs, backoff.initialMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}

/** A sleep that `interrupt` ends early. An interrupt while nothing sleeps ends the next sleep at once. */
export class InterruptibleSleep {
  #isInterrupted = false
  #wakeUp: (() => void) | undefined

  interrupt(): void {
    this.#isInterrupted = true
    this.#wakeUp?.()
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isInterrupted) await this.#wait(milliseconds)
    this.#wakeUp = undefined
    this.#isInterrupted = false
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wakeUp = () => {
        clearTimeout(timer)
        // At the end of the turn, so that all messages written in it are sent in one batch.
        setImmediate(resolve)
      }
    })
  }
}

let turn: Promise<void> | undefined

/**
 * Resolves at the end of the current turn of the event loop, for all callers of the turn together. Messages that are sent
 * together wake up the process at the other end once instead of once each; waking it up takes longer than sending a small
 * message.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}

/** Allows `burst` messages at once and one more in each `everyMs`: in `w` milliseconds at most burst + w / everyMs. */
export interface RateLimit {
  readonly burst: number
  readonly everyMs: number
}

/** The state of a rate limit as plain data, so that it can be stored for a later process. */
export interface BucketState {
  readonly tokens: number
  /** The time of `tokens`, in milliseconds since the epoch. */
  readonly at: number
  readonly blockedUntil: number
}

// A longer pause is an error of the receiver.
const LONGEST_PAUSE_MS = 24 * 3_600_000

/** Enforces a rate limit. If the clock is set back, messages may wait longer, but are never sent too early. */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  #tokens: number
  #at: number
  #blockedUntil: number

  constructor(limit: RateLimit, now: () => number, state?: BucketState) {
    this.#limit = limit
    this.#now = now
    this.#tokens = Math.min(limit.burst, Math.max(0, state?.tokens ?? limit.burst))
    this.#at = state?.at ?? now()
    this.#blockedUntil = state?.blockedUntil ?? 0
  }

  get state(): BucketState {
    return { tokens: this.#tokens, at: this.#at, blockedUntil: this.#blockedUntil }
  }

  /** How many tokens can be taken now. */
  available(): number {
    this.#refill(this.#now())
    return this.#blockedUntil > this.#at ? 0 : Math.floor(this.#tokens)
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(): number {
    const now = this.#now()
    this.#refill(now)
    if (this.#blockedUntil > now) return this.#blockedUntil - now
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) * this.#limit.everyMs)
    this.#tokens -= 1
    return 0
  }

  /** Gives no token for this time, because the receiver has asked for a pause. */
  pause(milliseconds: number): void {
    const now = this.#now()
    this.#refill(now)
    this.#blockedUntil = Math.max(this.#blockedUntil, now + milliseconds)
  }

  #refill(now: number): void {
    const { burst, everyMs } = this.#limit
    this.#tokens = Math.min(burst, this.#tokens + Math.max(0, now - this.#at) / everyMs)
    // A pause ends after its time, not when a clock that was set back has caught up.
    this.#blockedUntil = Math.min(this.#blockedUntil - Math.max(0, this.#at - now), now + LONGEST_PAUSE_MS)
    this.#at = now
  }
}
