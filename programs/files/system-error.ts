/** The code of a system error such as `ENOENT`, else an empty text. */
export function systemErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

// The messages of the system, of SQLite and of pg_dump.
const DISK_FULL = /\b(?:ENOSPC|EDQUOT)\b|no space left|disk is full|disk quota exceeded/i

/** Whether a full disk is the reason of an error, or of its cause. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return DISK_FULL.test(`${systemErrorCode(error)} ${error.message}`) || isDiskFull(error.cause)
}

/** An error of a call of the system, as on a full or a read-only disk. */
export function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
