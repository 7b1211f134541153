import { DATA_BACKUP_ALERTS } from './alerts.ts'
import { backUpCommand, pruneBackupsCommand } from './commands.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { DATA_BACKUP_EVENTS } from './events.ts'
import { BackupFiles } from './files.ts'
import { backupGaugesJob, backupMaintenanceJob } from './jobs.ts'
import { BACKUP_OPERATORS, DATA_BACKUP_ERRORS, dataBackupRoutes } from './routes.ts'
import { BackupSchema, encodeBackup } from './schemas.ts'
import { DataBackups, type DataBackupDeps } from './service.ts'
import { names } from './tables.ts'
import { BackupWorker } from './worker.ts'

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
    const worker = new BackupWorker({
      ...deps,
      files,
      finish: (tx, backup, result) => backups.finish(tx, backup, result),
    })
    return {
      backups,
      worker,
      /** How often the worker makes a backup; undefined if it makes none. */
      everyMs,
      routes: dataBackupRoutes(backups),
      jobs: {
        api: [backupGaugesJob(backups, metrics)],
        worker: [backupMaintenanceJob(backups, everyMs)],
      },
      // Also in the api: a request must not wait for a worker that does not run.
      runners: { api: [worker], worker: [worker] },
      builtInCommands: [backUpCommand(backups), pruneBackupsCommand(backups, deps.store)],
    } satisfies DomainParts & { backups: DataBackups; worker: BackupWorker; everyMs: number | undefined }
  },
})
