import { outcomeOf, type DrillReport } from './drill-report.ts'
import { durationText } from './words.ts'
import type { NightAlerts } from '../alerts/night-alerts.ts'
import { drillTicket } from '../alerts/tickets.ts'
import type { TicketOpening } from '../alerts/outbox-entry.ts'

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

/** The ticket of one restore drill: opened when it begins, closed when it has passed, left open when it has failed. */
export class DrillTicket {
  readonly #alerts: Pick<NightAlerts, 'openTicket' | 'editTicket'>
  readonly #ticket: TicketOpening

  private constructor(alerts: Pick<NightAlerts, 'openTicket' | 'editTicket'>, ticket: TicketOpening) {
    this.#alerts = alerts
    this.#ticket = ticket
  }

  static async open(
    alerts: Pick<NightAlerts, 'openTicket' | 'editTicket'>,
    backupId: string,
  ): Promise<DrillTicket> {
    return new DrillTicket(alerts, await alerts.openTicket(drillTicket(backupId)))
  }

  async pass(summary: string): Promise<void> {
    await this.#edit({ comment: 'restore completed' })
    await this.#edit({ comment: `summary: ${summary}` })
    await this.#edit({ status: 'resolved' })
    await this.#edit({ status: 'closed' })
  }

  async fail(summary: string): Promise<void> {
    await this.#edit({ level: 'high' })
    await this.#edit({ comment: 'restore failed' })
    await this.#edit({ comment: `summary: ${summary}` })
  }

  #edit(edit: Parameters<NightAlerts['editTicket']>[1]): Promise<void> {
    return this.#alerts.editTicket(this.#ticket, edit)
  }
}
