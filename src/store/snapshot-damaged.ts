import { AppError, errorMessage } from '../kernel/errors.ts'

/** The error for a snapshot that cannot be restored. */
export function snapshotDamaged(path: string, reason: unknown): AppError {
  const cause = reason instanceof AppError ? (reason.cause ?? reason) : reason
  const message = `The file ${path} is damaged: ${errorMessage(cause)}.`
  return new AppError('conflict', 'snapshot_damaged', message, { cause })
}
