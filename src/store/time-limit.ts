import { AppError } from '../kernel/errors.ts'
import { SECOND } from '../kernel/time.ts'

/** How long the store waits, in milliseconds. */
export interface StoreLimits {
  /** For the callback of a transaction: one that awaits something else than its transaction keeps others waiting. */
  readonly transactionMs: number
  /** For the answer to one query of a server. */
  readonly queryMs: number
  /** For the answer to the question whether the database works. */
  readonly checkMs: number
}

// On SQLite a callback never waits for anybody. On PostgreSQL it makes many journeys to the server, and may meet locks.
export const STORE_LIMITS: Readonly<Record<'sqlite' | 'postgres', StoreLimits>> = {
  sqlite: { transactionMs: 5 * SECOND, queryMs: 10 * SECOND, checkMs: 2 * SECOND },
  postgres: { transactionMs: 30 * SECOND, queryMs: 10 * SECOND, checkMs: 2 * SECOND },
}

/** The work's outcome, or a rejection with `expired()` when it has none in time; the work itself goes on. */
export async function within<T>(limitMs: number, work: Promise<T>, expired: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  let isSettled = false
  const expire = () => {
    if (!isSettled) reject(expired())
  }
  // A process that stood still itself first finishes what could have been finished meanwhile.
  const timer = setTimeout(() => setImmediate(expire), limitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    isSettled = true
    clearTimeout(timer)
  }
}

/** {@link within} for works that are done one after the other, which share one timer: each costs next to nothing. */
export interface Watch {
  /** The work's outcome, or a rejection with `expired()`. Only one at a time. */
  over<T>(work: Promise<T>, expired: () => Error): Promise<T>
  /** To be called when no work follows for a while; another one starts the timer again. */
  rest(): void
}

export function createWatch(limitMs: number): Watch {
  let timer: NodeJS.Timeout | undefined
  let expire: (() => void) | undefined
  const onTimer = () => {
    const overdue = expire
    // A process that stood still itself first finishes what could have been finished meanwhile.
    setImmediate(() => {
      if (overdue === expire) overdue?.()
    })
  }
  return {
    over: (work, expired) =>
      new Promise((resolve, reject) => {
        timer = timer?.refresh() ?? setTimeout(onTimer, limitMs)
        const giveUp = () => reject(expired())
        expire = giveUp
        const settled =
          <A>(settle: (outcome: A) => void) =>
          (outcome: A) => {
            // One that was given up may still settle, beside the next.
            if (expire === giveUp) expire = undefined
            settle(outcome)
          }
        work.then(settled(resolve), settled(reject))
      }),
    rest() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

export function transactionTooLong(limitMs: number): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    `The change was undone, because it did not end within ${limitMs} ms; try again.`,
    { retryAfterSeconds: 1 },
  )
}
