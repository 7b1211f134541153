import { AppError } from '../kernel/errors.ts'
import { SECOND } from '../kernel/time.ts'

/** The database cannot be used now; a client may repeat its request after a second. */
export function storeUnavailable(
  cause: unknown,
  message = 'The database cannot take this call now; try again.',
): AppError {
  return new AppError('unavailable', 'store_unavailable', message, { cause, retryAfterSeconds: 1 })
}

/** A transaction or its wait for a lock has taken too long. The caller may repeat it; the database itself works. */
export class TransactionTimedOut extends AppError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', 'store_unavailable', message, { cause, retryAfterSeconds: 1 })
  }
}

/** Another program has kept the write lock of a SQLite file for longer than a write waits. */
export class WriteLockHeld extends Error {
  override readonly name = 'WriteLockHeld'

  constructor() {
    super('another process holds the write lock')
  }
}

export function transactionTimeout(limitMs: number): TransactionTimedOut {
  return new TransactionTimedOut(
    `The change was undone, because it did not end within ${limitMs} ms; try again.`,
  )
}

/** How long the store waits, in milliseconds. */
export interface StoreLimits {
  /** For the callback of a transaction. */
  readonly transactionMs: number
  /** For the next statement of a transaction: longer means that the callback waits for something else. */
  readonly idleMs: number
  /** For the answer to one query of a server. */
  readonly queryMs: number
  /** For the answer to `check()`. */
  readonly checkMs: number
}

// On SQLite the statements of a callback take no time that matters, and every other write waits for it. On PostgreSQL
// each statement is a round trip to the server, which may wait for a lock: a callback with many of them takes long and still
// makes progress.
export const STORE_LIMITS: Readonly<Record<'sqlite' | 'postgres', StoreLimits>> = {
  sqlite: { transactionMs: 5 * SECOND, idleMs: 5 * SECOND, queryMs: 10 * SECOND, checkMs: 2 * SECOND },
  postgres: { transactionMs: 120 * SECOND, idleMs: 5 * SECOND, queryMs: 10 * SECOND, checkMs: 2 * SECOND },
}

/** The work's outcome, or a rejection with `expired()` when it has none in time; the work itself goes on. */
export async function withTimeout<T>(limitMs: number, work: Promise<T>, expired: () => Error): Promise<T> {
  const timeout = new ReusableTimeout(limitMs)
  try {
    return await timeout.race(work, expired)
  } finally {
    timeout.clear()
  }
}

/**
 * A timeout for works that run one after the other, or of which several wait for answers in their order: then it is for the
 * next answer. They share one timer: restarting one costs next to nothing.
 */
export class ReusableTimeout {
  readonly #limitMs: number
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  // Grows with each start of a wait and each end of a work.
  #activity = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** How many works have neither ended nor expired. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The work's outcome, or a rejection with `expired()`. */
  race<T>(work: Promise<T>, expired: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#restart()
      const expire = () => reject(expired())
      this.#waiting.add(expire)
      const settleBy =
        <A>(settle: (outcome: A) => void) =>
        (outcome: A) => {
          // A work that has expired may still settle while another one runs.
          if (this.#waiting.delete(expire)) this.#restart()
          settle(outcome)
        }
      work.then(settleBy(resolve), settleBy(reject))
    })
  }

  /** Stops the timer, which would keep the process alive; the next `race` starts it again. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #restart(): void {
    this.#activity++
    this.#timer = this.#timer?.refresh() ?? setTimeout(this.#onTimer, this.#limitMs)
  }

  readonly #onTimer = () => {
    const seen = this.#activity
    // A process that was suspended first handles the answers that have arrived meanwhile.
    setImmediate(() => {
      if (seen !== this.#activity) return
      const overdue = [...this.#waiting]
      this.#waiting.clear()
      for (const expire of overdue) expire()
    })
  }
}
