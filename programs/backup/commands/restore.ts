import { AppError } from '../../../src/kernel/errors.ts'
import { DrillTicket } from '../alerts/drill-ticket.ts'
import { BackupError } from '../errors.ts'
import { placesOf, type BackupParts } from '../parts.ts'
import type { DrillCheck, DrillReport } from '../restore/drill-report.ts'
import { isBackupId } from '../restore/month-index.ts'
import { restoreBackup } from '../restore/restore.ts'
import { RestoreError } from '../restore/restore-error.ts'
import { durationText } from '../restore/words.ts'
import { withAwaitedRunLock } from './lock.ts'
import { updateMetrics } from './metrics.ts'
import { requireDriveSettings, requirePrivateIdentity } from './requirements.ts'
import type { CommandResult } from './result.ts'

export interface RestoreOptions {
  readonly backupId: string | undefined
  /** Instead of an id. */
  readonly latest?: boolean
  readonly into?: string
}

/** `platform backup restore`: the restore drill. */
export async function restore(parts: BackupParts, options: RestoreOptions): Promise<CommandResult> {
  requireOne(options)
  requireDriveSettings(parts.runtime.loaded)
  requirePrivateIdentity(parts.runtime.loaded)
  const report = await drill(parts, options).catch(async (error: unknown) => {
    // A drill that cannot begin reports nothing of its own.
    await parts.openAlerts().deliver()
    if (error instanceof RestoreError) throw new AppError('conflict', 'restore_failed', error.message)
    if (error instanceof BackupError)
      throw new AppError('unavailable', error.errorCode, `${error.errorCode}: ${error.message}`)
    throw error
  })
  await withAwaitedRunLock(parts, async () => remember(parts, report)).catch((error: unknown) =>
    // The run takes too long: the report has everything.
    parts.logger.warn({ error }, 'the drill is not in the state'),
  )
  return { exitCode: report.passed ? 0 : 1, text: `${textOf(report)}\n`, json: report }
}

function requireOne({ backupId, latest }: RestoreOptions): void {
  if ((backupId === undefined) !== (latest ?? false))
    throw new AppError('invalid', 'usage', 'restore needs the id of a backup, or --latest')
  if (backupId !== undefined && !isBackupId(backupId))
    throw new AppError(
      'invalid',
      'usage',
      `${JSON.stringify(backupId)} is no id of a backup; expected YYYYMMDD-HHMMSS`,
    )
}

async function drill(parts: BackupParts, { backupId, into }: RestoreOptions): Promise<DrillReport> {
  const { config, logger, runtime } = parts
  const alerts = parts.openAlerts()
  const { drive, rootDirectory } = parts.openDrive()
  const onCheck = ({ name, ok, detail }: DrillCheck) => {
    logger[ok ? 'info' : 'error']({ check: name, ok }, detail)
    runtime.print(`${ok ? 'ok' : 'FAILED'} ${name}: ${detail}`)
  }
  try {
    return await restoreBackup(
      { backupId, into },
      {
        drive,
        rootDirectory,
        databases: runtime.databases,
        identityFile: config.backup.encryption.identityFile,
        progress: runtime.progress,
        onCheck,
        backupsDirectory: placesOf(config).directory,
        openTicket: (id) => DrillTicket.open(alerts, id),
        beat: () => alerts.beat('backup-restore-drill'),
        clock: runtime.clock,
        signal: runtime.signal,
      },
    )
  } finally {
    drive.close()
  }
}

function remember(parts: BackupParts, report: DrillReport): void {
  const { state, runtime } = parts
  const endedAt = runtime.clock.now()
  const { backup_id: backupId, passed, rto_seconds: rtoSeconds, rpo_seconds: rpoSeconds } = report
  state.write({
    ...state.read(),
    drill: { backupId, endedAt, passed, rtoSeconds, rpoSeconds },
    ...(passed && { lastPassedDrillAt: endedAt }),
  })
  updateMetrics(parts)
}

function textOf({ backup_id: id, passed, checks, rto_seconds: rto, rpo_seconds: rpo }: DrillReport): string {
  const times = `RTO ${durationText(rto)}, RPO ${durationText(rpo)}`
  return passed
    ? `backup ${id} can be restored: ${checks.length} checks passed, ${times}`
    : `the restore drill of backup ${id} has failed at ${checks.at(-1)?.name}: ${checks.at(-1)?.detail}`
}
