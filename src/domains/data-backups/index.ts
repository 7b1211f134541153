import { declaredAlarmId } from '../../kernel/alerts.ts'
import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { DAY, MINUTE, SECOND, HOUR } from '../../kernel/time.ts'
import type { Store } from '../../store/store.ts'
import { endCheck, isCheckDue } from '../../store/work/marks.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { DATA_BACKUP_ALERTS, DATA_BACKUP_EVENTS } from './model.ts'
import { BackupFiles } from './files.ts'
import {
  BACKUP_OPERATORS,
  DATA_BACKUP_ERRORS,
  dataBackupRoutes,
  encodeBackup,
  BackupSchema,
} from './routes.ts'
import { DataBackups, type DataBackupDeps } from './service.ts'
import { names } from './tables.ts'
import { backupRunner } from './worker.ts'

export { INTERRUPTED, type DataBackup } from './model.ts'
export { DataBackups, type DataBackupDeps } from './service.ts'
export { interruptRunning } from './store.ts'

/** Backups of the database in files (docs/specification.md, Data backups). */
export const dataBackupsDomain = defineDomain({
  name: 'data-backups',
  tables: names,
  events: DATA_BACKUP_EVENTS,
  eventSchemas: { 'data.backup.*': BackupSchema },
  eventReaders: BACKUP_OPERATORS,
  errors: DATA_BACKUP_ERRORS,
  alerts: DATA_BACKUP_ALERTS,
  encodeEvent: encodeBackup,
  create: (deps: DataBackupDeps) => {
    const { directory, everyMs, metrics, snapshots } = deps
    const files = new BackupFiles({ directory, extension: snapshots.extension })
    const backups = new DataBackups({ ...deps, files, wake: () => worker.wake() })
    const worker = backupRunner({
      ...deps,
      files,
      finish: (tx, backup, result) => backups.finish(tx, backup, result),
    })
    return {
      service: backups,
      worker,
      /** How often the worker makes a backup; undefined if it makes none. */
      everyMs,
      routes: dataBackupRoutes(backups),
      jobs: {
        api: [backupGaugesJob(backups, metrics)],
        worker: [backupMaintenanceJob(backups, everyMs), ...integrityJobs(deps)],
      },
      // The api has a runner, too: a request must not wait for a worker that does not run.
      runners: { api: [worker], worker: [worker] },
      builtInCommands: [backUpCommand(backups), pruneBackupsCommand(backups, deps.store)],
    } satisfies DomainParts & Record<string, unknown>
  },
})

const MAX_KEEP = 1_000

/** Makes a data backup, and waits for its end. */
function backUpCommand(backups: Pick<DataBackups, 'backUp'>): BuiltInCommand {
  return builtInCommand({
    id: 'data.backup',
    title: 'Back up the database',
    description: 'Makes a data backup, and waits until it is completed and verified.',
    timeoutMs: DAY,
    async run({ actor, signal, print }) {
      const { id, status, error } = await backups.backUp({}, actor, signal)
      if (status === 'failed') throw new Error(`The data backup ${id} has failed: ${error}.`)
      print(`The data backup ${id} is ${status}.`)
    },
  })
}

/** Deletes old data backups. */
export function pruneBackupsCommand(
  backups: Pick<DataBackups, 'prune' | 'removeFiles'>,
  store: Store,
): BuiltInCommand {
  return builtInCommand({
    id: 'data.prune',
    title: 'Delete old data backups',
    description: 'Keeps the newest completed backups, always the newest verified one among them.',
    params: {
      keep: { type: 'integer', minimum: 1, maximum: MAX_KEEP, default: 7, description: 'How many are kept.' },
    },
    async run({ params, actor, print }) {
      const { removed, kept } = await store.write((tx) => backups.prune(tx, Number(params['keep']), actor))
      await backups.removeFiles()
      print(`Deleted ${formatCount(removed.length, 'data backup')} and kept ${kept.length}.`)
    },
  })
}

/** Makes the backups of `data.backup_every`, deletes old ones, and removes the files of deleted ones. */
function backupMaintenanceJob(backups: DataBackups, everyMs: number = MINUTE): Job {
  return {
    name: 'data-backup-maintenance',
    everyMs: Math.min(everyMs, MINUTE),
    run: () => backups.maintain(),
  }
}

const READ_EVERY_MS = 30 * SECOND

/** Updates the gauges of the last completed backup. */
function backupGaugesJob(backups: DataBackups, metrics: Metrics): Job {
  const finished = metrics.gauge({
    name: 'data_backup_last_success_timestamp_seconds',
    help: 'Time of the end of the last completed data backup, read every 30 s.',
  })
  const size = metrics.gauge({
    name: 'data_backup_last_size_bytes',
    help: 'Size of the file of the last completed data backup, read every 30 s.',
  })
  const duration = metrics.gauge({
    name: 'data_backup_last_duration_seconds',
    help: 'Time from the request of the last completed data backup to its end, read every 30 s.',
  })
  const gauges = [finished, size, duration]
  return {
    name: 'data-backup-gauges',
    everyMs: READ_EVERY_MS,
    gauges,
    async run() {
      const backup = await backups.newestCompleted()
      if (!backup?.finishedAt) return gauges.forEach((gauge) => gauge.clear())
      finished.set(backup.finishedAt / SECOND)
      size.set(backup.sizeBytes ?? 0)
      duration.set((backup.finishedAt - backup.createdAt) / SECOND)
    },
  }
}

const ALERT = {
  alarmId: declaredAlarmId(DATA_BACKUP_ALERTS, 'data.damaged'),
  source: 'platform.data',
  title: 'The database file is damaged',
} as const

const DAMAGED =
  'the database file is damaged: stop the platform and restore a backup; "platform doctor" names the last one'

/** Checks the pages of the database while a check is due, and raises and ends the alert; it stays due until they are sound. */
function integrityJobs({
  store,
  alerts,
  logger,
  findDamage,
}: Pick<DataBackupDeps, 'store' | 'alerts' | 'logger' | 'findDamage'>): Job[] {
  if (!findDamage) return []
  const run = async (signal: AbortSignal) => {
    if (!(await isCheckDue(store.read))) return
    const damage = await findDamage(signal)
    if (damage === undefined) {
      await store.write(async (tx) => {
        await endCheck(tx)
        await alerts.recoverIfRaised(tx, { ...ALERT, body: 'A check has found no damage.' })
      })
      return logger.info({}, 'the database file was checked: it is undamaged')
    }
    // First: a damaged file may not take the alert.
    logger.error({ reason: damage }, DAMAGED)
    await store.write((tx) => alerts.raise(tx, { ...ALERT, body: damage, severity: 'CRITICAL' }))
  }
  return [{ name: 'database-check', everyMs: HOUR, run }]
}
