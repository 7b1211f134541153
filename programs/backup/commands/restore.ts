import { AppError, errorMessage } from '../../../src/kernel/errors.ts'
import { DrillTicket, endTicket } from '../restore/restore-ticket.ts'
import { isBackupIdText } from '../shape-checks.ts'
import { BackupError, isNoSpace } from '../errors.ts'
import { placesOf, type BackupParts } from '../parts.ts'
import type { DrillCheck, DrillReport } from '../restore/drill-report.ts'
import { restoreBackup, tenths } from '../restore/restore.ts'
import { RestoreError } from '../restore/restore-error.ts'
import { durationText } from '../restore/words.ts'
import { withAwaitedRunLock } from './lock.ts'
import { updateMetrics } from './metrics.ts'
import { requireDriveSettings, requirePrivateIdentity } from './requirements.ts'
import type { CommandResult } from './result.ts'
import { writeReports } from '../restore/report-files.ts'

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
  const startedAt = parts.runtime.clock.now()
  const report = await drill(parts, options).catch((error: unknown) =>
    failedDrill(parts, options, startedAt, error),
  )
  await withAwaitedRunLock(parts, async () => remember(parts, report)).catch((error: unknown) =>
    // The run takes too long: the report has everything.
    parts.logger.warn({ error }, 'the drill is not in the state'),
  )
  return { exitCode: report.passed ? 0 : 1, text: `${textOf(report)}\n`, json: report }
}

/**
 * Reports a drill that failed because of the drive before it had an archive. Nobody watches the monthly drill, so its
 * failure is reported like any other. Throws for a request that cannot be met.
 */
async function failedDrill(
  parts: BackupParts,
  { backupId }: RestoreOptions,
  startedAt: number,
  error: unknown,
): Promise<DrillReport> {
  const id = backupId ?? parts.state.read().lastSuccess?.backupId
  const reason = reasonOfDrive(error)
  if (reason !== undefined && id !== undefined && parts.runtime.signal?.aborted !== true)
    return reportFailedStart(parts, { backupId: id, startedAt, reason })
  // A drill that cannot begin adds no alert of its own.
  await parts.openAlerts().deliver()
  if (error instanceof RestoreError) throw new AppError('conflict', 'restore_failed', error.message)
  if (error instanceof BackupError)
    throw new AppError('unavailable', error.errorCode, `${error.errorCode}: ${error.message}`)
  if (isNoSpace(error)) throw new AppError('unavailable', 'no_space', `no_space: ${errorMessage(error)}`)
  throw error
}

/** The reason, if the error comes from the drive or from a full disk; otherwise undefined. */
function reasonOfDrive(error: unknown): string | undefined {
  if (error instanceof BackupError) return `${error.errorCode}: ${error.message}`
  if (isNoSpace(error)) return `no_space: ${errorMessage(error)}`
  return error instanceof RestoreError && error.isOfDrive ? error.message : undefined
}

function checkPrinter({ logger, runtime }: BackupParts): (check: DrillCheck) => void {
  return ({ name, ok, detail }) => {
    logger[ok ? 'info' : 'error']({ check: name, ok }, detail)
    runtime.print(`${ok ? 'ok' : 'FAILED'} ${name}: ${detail}`)
  }
}

function requireOne({ backupId, latest, into }: RestoreOptions): void {
  if (into === '') throw new AppError('invalid', 'usage', '--into is empty; name a new or an empty directory')
  if ((backupId === undefined) !== (latest ?? false))
    throw new AppError('invalid', 'usage', 'restore needs the id of a backup, or --latest')
  if (backupId !== undefined && !isBackupIdText(backupId))
    throw new AppError(
      'invalid',
      'usage',
      `${JSON.stringify(backupId)} is no id of a backup; expected YYYYMMDD-HHMMSS`,
    )
}

async function drill(parts: BackupParts, { backupId, into }: RestoreOptions): Promise<DrillReport> {
  const { config, runtime } = parts
  const alerts = parts.openAlerts()
  const { drive, rootDirectory } = parts.openDrive()
  try {
    return await restoreBackup(
      { backupId, into },
      {
        drive,
        rootDirectory,
        databases: runtime.databases,
        identityFile: config.backup.encryption.identityFile,
        progress: runtime.progress,
        onCheck: checkPrinter(parts),
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

interface FailedStart {
  readonly backupId: string
  /** When the drill began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Why the archive was not found. */
  readonly reason: string
}

/** Writes the report of a drill that did not get to its archive, and leaves its ticket open. */
async function reportFailedStart(
  parts: BackupParts,
  { backupId, startedAt, reason }: FailedStart,
): Promise<DrillReport> {
  const { lastSuccess } = parts.state.read()
  const createdAt = lastSuccess?.backupId === backupId ? lastSuccess.at : startedAt
  const check: DrillCheck = { name: 'archive-hash', ok: false, detail: reason }
  checkPrinter(parts)(check)
  const report: DrillReport = {
    backup_id: backupId,
    passed: false,
    checks: [check],
    rto_seconds: Math.max(0, tenths(parts.runtime.clock.now() - startedAt)),
    rpo_seconds: Math.max(0, tenths(startedAt - createdAt)),
  }
  await endTicket(await DrillTicket.open(parts.openAlerts(), backupId), report)
  const unknown = { archive: undefined, servers: [], schemaVersion: '', rows: {} }
  writeReports(placesOf(parts.config).directory, report, { ...unknown, createdAt, startedAt })
  return report
}
