/** Why a night failed (docs/specification.md, Nightly backup). */
export const ERROR_CODES = [
  'snapshot_failed',
  'archive_failed',
  'log_missing',
  'no_space',
  'token_unreadable',
  'token_refresh_failed',
  'drive_unreachable',
  'drive_rejected',
  'upload_failed',
  'verify_mismatch',
  'clean_failed',
  'interrupted',
  'internal',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** A failure of the routine. The message is one sentence without secrets, for the alert and the log. */
export class BackupError extends Error {
  override readonly name: string = 'BackupError'
  readonly errorCode: ErrorCode

  constructor(errorCode: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.errorCode = errorCode
  }
}
