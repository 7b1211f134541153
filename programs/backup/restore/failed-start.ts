import type { Clock } from '../../../src/kernel/clock.ts'
import type { DrillCheck, DrillReport } from './drill-report.ts'
import { writeReports } from './report-files.ts'
import { tenths } from './restore.ts'
import { endTicket, type RestoreTicket } from './restore-ticket.ts'

export interface FailedStart {
  readonly backupId: string
  /** When the backup was made, and when the drill began, in milliseconds since the epoch. */
  readonly createdAt: number
  readonly startedAt: number
  /** Why the archive was not found. */
  readonly reason: string
}

export interface FailedStartDeps {
  readonly backupsDirectory: string
  readonly onCheck: (check: DrillCheck) => void
  readonly openTicket: (backupId: string) => Promise<RestoreTicket>
  readonly clock: Clock
}

/** Writes the report of a drill that did not get to its archive, and leaves its ticket open. */
export async function reportFailedStart(
  { backupId, createdAt, startedAt, reason }: FailedStart,
  { backupsDirectory, onCheck, openTicket, clock }: FailedStartDeps,
): Promise<DrillReport> {
  const check: DrillCheck = { name: 'archive-hash', ok: false, detail: reason }
  onCheck(check)
  const report: DrillReport = {
    backup_id: backupId,
    passed: false,
    checks: [check],
    rto_seconds: Math.max(0, tenths(clock.now() - startedAt)),
    rpo_seconds: Math.max(0, tenths(startedAt - createdAt)),
  }
  const ticket = await openTicket(backupId)
  await endTicket(ticket, report)
  writeReports(backupsDirectory, report, {
    archive: undefined,
    createdAt,
    startedAt,
    servers: [],
    schemaVersion: '',
    rows: {},
  })
  return report
}
