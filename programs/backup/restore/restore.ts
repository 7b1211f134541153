import type { Clock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { Drill, type DrillDeps } from './drill.ts'
import type { DrillFacts, DrillReport } from './drill-report.ts'
import { requireBackup, requireLatestBackup, type IndexedBackup } from './month-index.ts'
import { writeReports } from './report-files.ts'
import { drillSummary, endTicket, type RestoreTicket } from './restore-ticket.ts'
import { namedWorkspace, temporaryWorkspace, type Workspace } from './workspace.ts'

export interface RestoreRequest {
  /** Without an id, the newest backup on the drive. */
  readonly backupId: string | undefined
  /** An empty or new directory, whose files stay. Without it they go at the end. */
  readonly into: string | undefined
}

export interface RestoreDeps extends DrillDeps {
  /** The folder of the drive in which backups are, of the token file. */
  readonly rootDirectory: string
  /** Where the reports are written. */
  readonly backupsDirectory: string
  readonly openTicket: (backupId: string) => Promise<RestoreTicket>
  /** Called after a drill that has passed. */
  readonly beat: () => Promise<void>
  readonly clock: Clock
}

/**
 * Restores a backup into a directory of its own, checks it, writes the report, and files the ticket. The database of the
 * platform is not touched. Throws a {@link RestoreError} or a `BackupError` when it cannot begin; a check that fails is in
 * the report.
 */
export async function restoreBackup(request: RestoreRequest, deps: RestoreDeps): Promise<DrillReport> {
  const startedAt = deps.clock.now()
  const begun = deps.clock.monotonic()
  const { folderId, backup } = await findBackup(request, deps, startedAt)
  const workspace = await openWorkspace(request, deps)
  try {
    const ticket = await deps.openTicket(backup.backupId)
    const drill = new Drill(deps, { folderId, backup, workspace })
    const passed = await drill.run()
    const report: DrillReport = {
      backup_id: backup.backupId,
      passed,
      checks: drill.checks,
      rto_seconds: tenths(deps.clock.monotonic() - begun),
      rpo_seconds: Math.max(0, tenths(startedAt - backup.createdAt)),
    }
    try {
      writeReports(deps.backupsDirectory, report, factsOf(backup, startedAt, drill))
    } catch (error) {
      await ticket.fail(`${drillSummary(report)}; the report cannot be written: ${errorMessage(error)}`)
      throw error
    }
    await endTicket(ticket, report)
    if (passed) await deps.beat()
    return report
  } finally {
    await workspace.close()
  }
}

async function findBackup({ backupId }: RestoreRequest, deps: RestoreDeps, now: number) {
  const { drive, rootDirectory, progress } = deps
  progress('reading the index of the backups')
  return backupId === undefined
    ? requireLatestBackup(drive, rootDirectory, now, (id) =>
        progress(`the backup ${id} is of the future: the clock was ahead when it was made`),
      )
    : requireBackup(drive, rootDirectory, backupId)
}

function openWorkspace({ into }: RestoreRequest, { backupsDirectory }: RestoreDeps): Promise<Workspace> {
  return into === undefined ? temporaryWorkspace(backupsDirectory) : namedWorkspace(into)
}

function factsOf(backup: IndexedBackup, startedAt: number, { manifest }: Drill): DrillFacts {
  const tables = Object.entries(manifest?.tables ?? {})
  return {
    archive: { file: backup.file, size: backup.size },
    createdAt: backup.createdAt,
    startedAt,
    servers: manifest?.servers ?? [],
    schemaVersion: manifest?.schema_version ?? '',
    rows: Object.fromEntries(tables.map(([name, { rows }]) => [name, rows])),
  }
}

/** Seconds with one decimal. */
export function tenths(milliseconds: number): number {
  return Math.round((milliseconds / SECOND) * 10) / 10
}
