/** The code of a system error such as `ENOENT`, else an empty text. */
export function systemErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
