import { AppError } from '../../kernel/errors.ts'

// https://www.sqlite.org/rescode.html, primary codes
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
// The journal of a database that is away for good or for a while: I/O error, corrupt, full, cannot open, not a database.
const STORE_FAILURES = new Set([10, 11, 13, 14, 26])

/** Another connection holds a lock that this one needs; a moment later it may be free. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

/** The error that callers are told of: one of the disk as `store_unavailable`, any other as it is. */
export function translated(error: unknown): unknown {
  const code = primaryCode(error)
  return code !== undefined && STORE_FAILURES.has(code) ? storeUnavailable(error) : error
}

export function storeUnavailable(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'store_unavailable',
    'The database cannot take this call now; try again.',
    { cause, retryAfterSeconds: 1 },
  )
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}
