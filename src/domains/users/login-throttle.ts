import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { MINUTE } from '../../kernel/time.ts'
import { setBounded } from './bounded-map.ts'
import { nameKey } from './model.ts'

/** One try that was let through. It counts as a failure until it is said to be something else. */
export interface Attempt {
  /** The password was right. */
  succeeded(): void
  /** The password was not judged. */
  withdrawn(): void
}

/** Slows down guessing (contract, Operations: login is throttled per user and per address). */
export interface LoginThrottle {
  /** Throws `rate_limited` when too many tries have failed. */
  begin(name: string, address: string): Attempt
}

interface Rule {
  readonly failures: number
  /** Whether a success forgives the failures before it; not where a guesser could use an account of their own for it. */
  readonly forgives: boolean
  readonly key: (name: string, address: string) => string
}

const WINDOW_MS = 5 * MINUTE
/** What is counted, each on its own: guesses at one user from one place, from everywhere, and at many from one place. */
const RULES: readonly Rule[] = [
  { failures: 10, forgives: true, key: (name, address) => `${address} ${name}` },
  { failures: 50, forgives: true, key: (name) => name },
  { failures: 100, forgives: false, key: (_name, address) => address },
]
const KEYS_REMEMBERED = 20_000

interface Count {
  failures: number
  readonly endsAt: number
}

/** Counts failures in windows of five minutes from the first one on, in the memory of this process. */
export function createLoginThrottle(clock: Clock): LoginThrottle {
  const counters = RULES.map((rule) => createCounter(rule, clock))
  return {
    begin(name, address) {
      const counts = counters.map((counter) => counter.current(nameKey(name), address))
      for (const [index, { failures, endsAt }] of counts.entries()) {
        if (failures >= (RULES[index] as Rule).failures) throw throttled(endsAt - clock.monotonic())
      }
      for (const count of counts) count.failures++
      // A success may have forgiven it already.
      const takeBack = (count: Count) => void (count.failures = Math.max(0, count.failures - 1))
      return {
        withdrawn: () => counts.forEach(takeBack),
        succeeded: () =>
          counts.forEach((count, index) => {
            if (RULES[index]?.forgives) count.failures = 0
            else takeBack(count)
          }),
      }
    },
  }
}

function createCounter({ key }: Rule, clock: Clock) {
  const counts = new Map<string, Count>()
  return {
    current(name: string, address: string): Count {
      const id = key(name, address)
      const known = counts.get(id)
      if (known && known.endsAt > clock.monotonic()) return known
      const fresh = { failures: 0, endsAt: clock.monotonic() + WINDOW_MS }
      setBounded(counts, id, fresh, KEYS_REMEMBERED)
      return fresh
    },
  }
}

function throttled(waitMs: number): AppError {
  return new AppError(
    'rate_limited',
    'rate_limited',
    'Too many logins have failed; wait before the next one.',
    {
      retryAfterSeconds: waitMs / 1_000,
    },
  )
}
