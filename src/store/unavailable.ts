import { AppError } from '../kernel/errors.ts'

/** The database cannot be used now; a client may repeat its request after a second. */
export function storeUnavailable(
  cause: unknown,
  message = 'The database cannot take this call now; try again.',
): AppError {
  return new AppError('unavailable', 'store_unavailable', message, { cause, retryAfterSeconds: 1 })
}

export function transactionTimeout(limitMs: number): AppError {
  return storeUnavailable(
    undefined,
    `The change was undone, because it did not end within ${limitMs} ms; try again.`,
  )
}
