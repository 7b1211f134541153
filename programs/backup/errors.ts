import { isDiskFull } from '../files/system-error.ts'

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

/** What to do when the drive no longer accepts the tokens. */
export const AUTHORISE_ANEW = 'authorise the drive anew: see "Authorising the drive" in docs/guide/nightly.md'

/**
 * A failure of the routine. The message is one sentence without secrets, for the alert and the log. If its cause is a full
 * disk, the code becomes `no_space`.
 */
export class BackupError extends Error {
  override readonly name: string = 'BackupError'
  readonly errorCode: ErrorCode

  constructor(errorCode: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.errorCode = isDiskFull(options?.cause) ? 'no_space' : errorCode
  }
}

/** Whether a full disk is the reason, or too little space on it. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof BackupError ? error.errorCode === 'no_space' : isDiskFull(error)
}
