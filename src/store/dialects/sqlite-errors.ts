import { storeUnavailable } from '../unavailable.ts'

// https://www.sqlite.org/rescode.html, primary codes
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_FULL = 13
// I/O error, corrupt, full, cannot open, not a database.
const STORE_FAILURES = new Set([10, 11, 13, 14, 26])
// Corrupt, not a database.
const DAMAGED = new Set([11, 26])

/** Another connection holds the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

/** The error of a query as callers get it: `store_unavailable` for a failure of the disk, else as it is. */
export function fromSqliteError(error: unknown): unknown {
  const code = primaryCode(error)
  return code !== undefined && STORE_FAILURES.has(code) ? storeUnavailable(error) : error
}

/** The file has other contents than SQLite has written. */
export function isDamaged(error: unknown): boolean {
  const code = primaryCode(error)
  return code !== undefined && DAMAGED.has(code)
}

/** There was no room for the change, even if there is some now. */
export function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE_FULL
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}
