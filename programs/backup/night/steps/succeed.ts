import type { AlertVariables } from '../../alerts/variables.ts'
import { leftOutText } from '../../package/left-out.ts'
import { expireRemote } from '../remote-retention.ts'
import type { RunContext } from '../run-context.ts'
import { nightOf, withNight } from '../state.ts'
import { emptyStaging } from '../staging.ts'
import { requireArchive } from './upload.ts'
import type { NightStep } from './step.ts'
import { BackupError } from '../../errors.ts'

/** Removes what is not needed any more, and reports the success. */
export const succeedStep: NightStep = {
  name: 'finish',
  reaches: 'succeeded',
  errorCode: 'internal',
  async run(context) {
    await expireRemote(context).catch((error: unknown) =>
      // The backup is on the drive all the same; the next night tries again.
      context.warn('old backups could not be removed from the drive', error),
    )
    await emptyStaging(context.deps.settings.staging)
    await reportSuccess(context)
    const { run, deps, state } = context
    const now = deps.clock.now()
    const { size, sha256, leftOut } = requireArchive(context)
    context.update({
      nights: withNight(state, { ...nightOf(state, run.date), succeededAt: now }),
      lastSuccess: {
        backupId: run.backupId,
        at: now,
        size,
        sha256,
        path: run.remote?.path ?? '',
        ...(leftOut && { leftOut }),
      },
      // Only a self-check that passes closes its alert.
      openAlerts: state.openAlerts.filter((alert) => alert === 'selfcheck'),
    })
  },
}

async function reportSuccess(context: RunContext): Promise<void> {
  const { deps, isRetry, state } = context
  const variables: AlertVariables = { ...context.variables('backup'), backup_status: 'succeeded' }
  const { leftOut } = requireArchive(context)
  await deps.alerts.report('backup_succeeded', variables, leftOut && [leftOutText(leftOut)])
  if (isRetry) await deps.alerts.report('retry_succeeded', variables)
  if (state.openAlerts.includes('critical')) await deps.alerts.report('lost_night_closed', variables)
  // If directories of logs are missing, the alert of the earlier night stays open: the next step fails for the same reason.
  const isWhole = (leftOut?.missing_roots ?? []).length === 0
  if (isWhole && state.openAlerts.includes('failed')) await deps.alerts.report('failure_closed', variables)
  await deps.alerts.beat('backup')
}

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
