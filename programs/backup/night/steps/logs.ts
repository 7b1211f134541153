import { BackupError } from '../../errors.ts'
import type { NightStep } from './step.ts'
import { requireArchive } from './upload.ts'

/**
 * Fails a night whose package lacks a whole directory of logs. It comes after the success: the database is safe on the
 * drive, and another package would lack the same.
 */
export const logsStep: NightStep = {
  name: 'logs',
  reaches: 'succeeded',
  errorCode: 'log_missing',
  async run(context) {
    const roots = requireArchive(context).leftOut?.missing_roots ?? []
    if (roots.length === 0) return
    throw new BackupError(
      'log_missing',
      `The backup has no logs of ${roots.join(', ')}: the directory is missing or cannot be read. Bring it back, or change backup.logs or backup.logs_optional.`,
    )
  },
}
