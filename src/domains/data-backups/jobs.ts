import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import type { DataBackups } from './service.ts'

/** Makes the backups of `data.backup_every`, deletes old ones, and removes the files of deleted ones. */
export function backupMaintenanceJob(backups: DataBackups, everyMs: number = MINUTE): Job {
  return {
    name: 'data-backup-maintenance',
    everyMs: Math.min(everyMs, MINUTE),
    run: () => backups.maintain(),
  }
}

const READ_EVERY_MS = 30 * SECOND

/** Updates the gauges of the last completed backup. */
export function backupGaugesJob(backups: DataBackups, metrics: Metrics): Job {
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
