import { LRUCache } from 'lru-cache'
import { clientNetwork } from '../../kernel/addresses.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { MINUTE } from '../../kernel/time.ts'
import { nameKey } from './model.ts'

/** A login attempt in progress. It counts as a failure unless one of the methods is called. */
export interface Attempt {
  /** The password was right. */
  succeed(): void
  /** The password was not checked. */
  cancel(): void
}

/** Limits failed logins, against guessing. The failures are counted in the memory of this process. */
export interface LoginThrottle {
  /**
   * Throws `rate_limited` after too many failures; a refused attempt is not counted. The failures for a name count for one
   * generation of its tokens: a new password, set in whatever process, begins anew.
   */
  begin(name: string, address: string, generation?: number): Attempt
}

interface Caller {
  readonly name: string
  readonly network: string
}

interface Limit {
  readonly failures: number
  /** Whether a success clears the failures. Not for a limit that an attacker could clear with a valid login. */
  readonly clearedBySuccess: boolean
  readonly key: (caller: Caller) => string
}

/** Failures for one user from one network, for one user from all networks, and for all users from one network. */
const LIMITS: readonly Limit[] = [
  { failures: 10, clearedBySuccess: true, key: ({ name, network }) => `${network} ${name}` },
  { failures: 50, clearedBySuccess: true, key: ({ name }) => name },
  { failures: 100, clearedBySuccess: false, key: ({ network }) => network },
]
const WINDOW_MS = 5 * MINUTE
// A window needs a checked password, which takes a tenth of a second of CPU time: in five minutes there cannot be more.
const MAX_WINDOWS = 20_000

export function createLoginThrottle(clock: Clock): LoginThrottle {
  const counters = LIMITS.map((limit) => new FailureCounter(limit, clock))
  return {
    begin(name, address, generation = 0) {
      const caller = { name: `${nameKey(name)} ${generation}`, network: clientNetwork(address) }
      const waitMs = Math.max(...counters.map((counter) => counter.waitMs(caller)))
      if (waitMs > 0) throw tooManyFailures(waitMs)
      const counted = counters.map((counter) => counter.add(caller))
      return {
        succeed: () => counted.forEach((attempt) => attempt.succeed()),
        cancel: () => counted.forEach((attempt) => attempt.cancel()),
      }
    },
  }
}

/** The failures of one key; begins with the first one and ends after five minutes. */
interface FailureWindow {
  failures: number
  readonly endsAt: number
}

/** Counts the failures of one limit. */
class FailureCounter {
  readonly #limit: Limit
  readonly #clock: Clock
  /** Created by the first failure, because it allocates space for all windows. */
  #windows: LRUCache<string, FailureWindow> | undefined

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Milliseconds until the caller may try again. */
  waitMs(caller: Caller): number {
    const window = this.#current(this.#limit.key(caller))
    return window && window.failures >= this.#limit.failures ? window.endsAt - this.#clock.monotonic() : 0
  }

  add(caller: Caller): Attempt {
    const key = this.#limit.key(caller)
    const window = this.#current(key) ?? this.#open(key)
    window.failures++
    return {
      succeed: () => this.#subtract(key, window, this.#limit.clearedBySuccess ? window.failures : 1),
      cancel: () => this.#subtract(key, window, 1),
    }
  }

  #current(key: string): FailureWindow | undefined {
    // `peek` keeps the order of insertion: the window that ends first is the first to be evicted.
    const window = this.#windows?.peek(key)
    return window && window.endsAt > this.#clock.monotonic() ? window : undefined
  }

  #open(key: string): FailureWindow {
    const window = { failures: 0, endsAt: this.#clock.monotonic() + WINDOW_MS }
    this.#windows ??= new LRUCache({ max: MAX_WINDOWS })
    this.#windows.set(key, window)
    return window
  }

  #subtract(key: string, window: FailureWindow, failures: number): void {
    // A success of another attempt may have cleared the window meanwhile.
    window.failures = Math.max(0, window.failures - failures)
    if (window.failures === 0 && this.#windows?.peek(key) === window) this.#windows.delete(key)
  }
}

function tooManyFailures(waitMs: number): AppError {
  const message = 'Too many logins have failed; wait before the next one.'
  return new AppError('rate_limited', 'rate_limited', message, { retryAfterSeconds: waitMs / 1_000 })
}
