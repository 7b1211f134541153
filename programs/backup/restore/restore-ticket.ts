import { outcomeOf, type DrillReport } from './drill-report.ts'
import { durationText } from './words.ts'

/**
 * The ticket of a drill, opened when it begins. `pass` comments `restore completed` and the summary, and closes the ticket;
 * `fail` leaves it open with level high. Neither rejects because the platform is away.
 */
export interface RestoreTicket {
  pass(summary: string): Promise<void>
  fail(summary: string): Promise<void>
}

const MAX_SUMMARY = 4_000

export async function endTicket(ticket: RestoreTicket, report: DrillReport): Promise<void> {
  const summary = drillSummary(report)
  await (report.passed ? ticket.pass(summary) : ticket.fail(summary))
}

/** The outcome in one line. */
export function drillSummary(report: DrillReport): string {
  const { backup_id: backupId, checks, rto_seconds: rto, rpo_seconds: rpo } = report
  const outcome = report.passed
    ? `all ${checks.length} checks passed, RTO ${durationText(rto)}, RPO ${durationText(rpo)}`
    : `${outcomeOf(report)} after ${durationText(rto)}: ${checks.at(-1)?.detail ?? ''}`
  return `backup ${backupId}: ${outcome}; report restore-drill-${backupId}.md`.slice(0, MAX_SUMMARY)
}
