/** The code of a system error such as `ENOENT`, else an empty text. */
export function systemErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** An error of a call of the system, as on a full or a read-only disk. */
export function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
