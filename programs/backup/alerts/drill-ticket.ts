import type { NightAlerts } from './night-alerts.ts'
import { drillTicket } from './tickets.ts'
import type { TicketOpening } from './outbox-entry.ts'

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
