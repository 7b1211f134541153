import { AppError } from '../kernel/errors.ts'

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
