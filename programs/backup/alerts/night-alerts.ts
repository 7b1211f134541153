import type { AlertTemplates } from '../../../src/config/backup-templates.ts'
import type { WaitingClock } from '../../../src/kernel/clock.ts'
import type { Logger } from '../../../src/kernel/logger.ts'
import { SECOND, DAY, HOUR } from '../../../src/kernel/time.ts'
import { alertReport, type NightReport, type ReportOrigin } from './alert-report.ts'
import { Delivery } from './delivery.ts'
import type { NightEvent } from './events.ts'
import type { OutboxRequest, TicketOpening } from './outbox-entry.ts'
import type { OutboxFiles } from './outbox-files.ts'
import { Outbox } from './outbox.ts'
import type { PlatformApi } from './platform-client.ts'
import { acceptableEdit, acceptableTicket, type NewNightTicket, type NightTicketEdit } from './tickets.ts'
import { TimeLimit } from './time-limit.ts'
import type { AlertVariables } from './variables.ts'

export interface NightAlertsOptions {
  /** See `DirectoryOutboxFiles` and `PlatformClient`. */
  readonly files: OutboxFiles
  readonly api: PlatformApi
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly server: 'primary' | 'standby'
  /** The address of the server in alerts. */
  readonly serverAddr: string
  /** Variables that all alerts have, such as `server_name` and `backup_window_start`. */
  readonly variables: AlertVariables
  /** By the name of the alert. */
  readonly templates: AlertTemplates
  /** Ends the delivery; what was not sent stays in the outbox. */
  readonly signal?: AbortSignal | undefined
}

// Together the 30 s by which alerts may delay a run (docs/specification.md, Alerts of a night).
const DELIVERY_LIMIT_MS = 24 * SECOND
const LOCK_LIMIT_MS = 6 * SECOND

/**
 * Reports a night to the platform: alerts, tickets and heartbeats. Each request waits in the outbox until it is accepted, and
 * they are sent in order. No method rejects because the platform is away. One object delays its caller by at most 30 s in
 * all, so each run has its own.
 */
export class NightAlerts {
  readonly #options: NightAlertsOptions
  readonly #origin: ReportOrigin
  readonly #outbox: Outbox
  readonly #delivery: Delivery
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: NightAlertsOptions) {
    const { clock, server } = options
    this.#options = options
    this.#origin = { ...options, source: `platform.backup.${server}` }
    this.#outbox = new Outbox({ ...options, limit: new TimeLimit(clock, LOCK_LIMIT_MS) })
    this.#delivery = new Delivery({
      ...options,
      outbox: this.#outbox,
      limit: new TimeLimit(clock, DELIVERY_LIMIT_MS),
    })
  }

  /** Reports an event. The details are lines that follow the text, also that of a template. */
  async report(event: NightEvent, variables: AlertVariables, details: readonly string[] = []): Promise<void> {
    const report: NightReport = { event, variables: { ...this.#options.variables, ...variables }, details }
    await this.#send({ kind: 'report', body: alertReport(report, this.#origin) })
  }

  /** Opens a ticket, or finds the unclosed one with the same key. Returns what {@link editTicket} needs. */
  async openTicket(ticket: Omit<NewNightTicket, 'source'>): Promise<TicketOpening> {
    const body = acceptableTicket({ ...ticket, source: this.#origin.source })
    const { id } = await this.#send({ kind: 'ticket', body })
    return { id, body }
  }

  /** Changes a ticket; a comment that the routine has written before is not repeated. */
  async editTicket(ticket: TicketOpening, edit: NightTicketEdit): Promise<void> {
    await this.#send({ kind: 'ticket_edit', ticket, body: acceptableEdit(edit) })
  }

  /** Makes the heartbeats of the routine at the platform. */
  async registerHeartbeats(): Promise<void> {
    for (const [name, settings] of Object.entries(HEARTBEATS))
      await this.#send({ kind: 'heartbeat', name, body: { ...settings, source: this.#origin.source } })
  }

  async beat(name: HeartbeatName): Promise<void> {
    await this.#send({ kind: 'beat', name })
  }

  /** Sends what waits. */
  deliver(): Promise<void> {
    return this.#inTurn(() => this.#delivery.run())
  }

  /** How many entries wait for the platform. */
  waiting(): number {
    return this.#outbox.entries().length
  }

  #send(request: OutboxRequest) {
    return this.#inTurn(async () => {
      const entry = await this.#outbox.add(request)
      await this.#delivery.run()
      return entry
    })
  }

  /** Runs the calls one after the other, in the order in which they were made. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work)
    this.#turn = result
    return result
  }
}

const settings = (everyMs: number, graceMs: number) => ({
  every_seconds: everyMs / SECOND,
  grace_seconds: graceMs / SECOND,
})

/** The heartbeats that the routine beats: the platform raises an alert for a night that nobody has run. */
export const HEARTBEATS = {
  backup: settings(DAY, 2 * HOUR),
  'backup-restore-drill': settings(31 * DAY, DAY),
} as const

type HeartbeatName = keyof typeof HEARTBEATS
