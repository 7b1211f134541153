import type { Alert } from './api.ts'
import { DigestRecord } from './digest-record.ts'
import { messageOf } from './errors.ts'
import { REASONS, type Reason } from './gates.ts'
import type { Log } from './log.ts'
import { digestNotice, readableStateAlert, ticketNotice, unreadableStateAlert } from './notices.ts'
import { failedOnBoth, type Notification, type NotifyResult, wasDelivered } from './notification.ts'
import type { Options } from './options.ts'
import { planRound, type Step, type TicketEvent } from './plan.ts'
import { Snapshot, toEntry, toToldEntry } from './snapshot.ts'
import type { OpenedState, StateStore } from './state-store.ts'
import type { TicketList } from './tickets.ts'

export interface RoundDeps {
  readonly log: Log
  readonly store: StateStore
  /** Name of this host. */
  readonly server: string
  now(): number
  /** For durations: a clock that is never set back. */
  monotonic(): number
  fetchTickets(): Promise<TicketList>
  send(notification: Notification): Promise<NotifyResult>
  /** Reports an alert to the platform; rejects when it is not taken. */
  reportAlert(alert: Alert): Promise<void>
  /** A signal has come: nothing more is sent. */
  isStopping(): boolean
}

export type RoundSettings = Pick<
  Options,
  'limit' | 'seedOnly' | 'freshMs' | 'maxNotify' | 'keepMs' | 'digest' | 'stateFile'
>

/** The fields of the log line `round done`. */
export interface RoundCounts {
  readonly fetched: number
  readonly malformed: number
  new: number
  changed: number
  /** Notifications that at least one channel took. */
  sent: number
  /** Notifications that both channels refused; the next round tries them again. */
  failed: number
  /** Notifications that no channel took and that are not tried again: one of the channels was skipped. */
  undelivered: number
  readonly suppressed: Record<Reason, number>
  pruned: number
  sendingMs: number
}

/** The state could not be saved: a round that went on would send the same again next time. */
export class SaveError extends Error {
  override readonly name = 'SaveError'
}

/**
 * Runs one round. Throws a FetchError before anything is changed, or a SaveError after which nothing more was sent.
 */
export async function runRound(deps: RoundDeps, settings: RoundSettings): Promise<RoundCounts> {
  const list = await deps.fetchTickets()
  const round = new Round(deps, settings, list)
  await round.run()
  return round.counts
}

class Round {
  readonly counts: RoundCounts
  readonly #deps: RoundDeps
  readonly #settings: RoundSettings
  readonly #list: TicketList
  readonly #now: number
  readonly #today: string
  readonly #record: DigestRecord

  constructor(deps: RoundDeps, settings: RoundSettings, list: TicketList) {
    this.#deps = deps
    this.#settings = settings
    this.#list = list
    this.#now = deps.now()
    this.#today = new Date(this.#now).toISOString().slice(0, 10)
    this.#record = deps.store.openDigestRecord(this.#today)
    this.counts = newCounts(list)
  }

  async run(): Promise<void> {
    this.#warnOfMissingTickets()
    const opened = this.#deps.store.open({
      listed: new Set(this.#list.tickets.map(({ id }) => id)),
      pruneBefore: this.#now - this.#settings.keepMs,
    })
    if (opened.situation === 'known') await this.#closeAlert()
    if (opened.situation !== 'known' || this.#settings.seedOnly) return this.#register(opened)
    await this.#notifyEvents(opened.snapshot)
    await this.#sendDigest()
  }

  #warnOfMissingTickets(): void {
    const { fetched, malformed } = this.#list
    const { limit } = this.#settings
    if (fetched >= limit)
      this.#deps.log.warn('the list has --limit tickets: older ones may be missing', { fetched, limit })
    if (malformed > 0) this.#deps.log.warn('tickets without a usable id were skipped', { malformed })
  }

  /** A first round, or one with --seed-only: all tickets become known, and nothing is sent. */
  async #register(opened: OpenedState): Promise<void> {
    const { log, isStopping } = this.#deps
    const isUnreadable = opened.situation === 'unreadable'
    // Reported before the file is replaced: a round that ends here repeats the alert instead of losing it.
    if (isUnreadable && !(await this.#reportUnreadable(opened.reason)) && isStopping()) return
    const snapshot = opened.situation === 'known' ? opened.snapshot : Snapshot.empty()
    this.#remember(snapshot)
    if (isUnreadable) this.#replaceUnreadable(snapshot)
    else this.#save(snapshot)
    const registered = this.#list.tickets.length
    log.info('tickets registered, nothing sent', { situation: opened.situation, registered })
  }

  #remember(snapshot: Snapshot): void {
    this.counts.pruned = snapshot.pruned
    for (const ticket of this.#list.tickets) {
      const known = snapshot.get(ticket.id)
      if (!known) this.counts.new += 1
      snapshot.set(ticket.id, toEntry(ticket, known, this.#now))
    }
  }

  /** Whether the platform took the alert. */
  async #reportUnreadable(reason: string): Promise<boolean> {
    const { log, server, reportAlert, isStopping } = this.#deps
    const state = this.#settings.stateFile
    const alert = unreadableStateAlert(state, reason, server)
    log.error('the state file is unreadable: this is a first round', { state, reason })
    // Stored before the report, so that the alert is closed later.
    asSaveError(() => this.#deps.store.setOpenAlert(true))
    try {
      await reportAlert(alert)
      return true
    } catch (error) {
      if (!isStopping()) this.#noteUnreported(alert, messageOf(error))
      return false
    }
  }

  /** Ends the alert of an earlier round. The next round tries again if the platform does not take it. */
  async #closeAlert(): Promise<void> {
    const { log, server, store, reportAlert, isStopping } = this.#deps
    if (!store.hasOpenAlert()) return
    try {
      await reportAlert(readableStateAlert(this.#settings.stateFile, server))
      store.setOpenAlert(false)
    } catch (error) {
      if (!isStopping()) log.warn('the end of the alert could not be reported', { reason: messageOf(error) })
    }
  }

  #noteUnreported({ alarm_id }: Alert, reason: string): void {
    this.#deps.log.error('the alert could not be reported', { alert: alarm_id, reason })
    this.#record.add('undelivered', alarm_id, `${alarm_id}: the state file was unreadable`)
  }

  #replaceUnreadable(snapshot: Snapshot): void {
    this.#saveRecord()
    const keptAs = asSaveError(() => this.#deps.store.replaceUnreadable(snapshot, this.#now))
    this.#deps.log.warn('the unreadable state file is kept', { kept_as: keptAs })
  }

  async #notifyEvents(snapshot: Snapshot): Promise<void> {
    this.counts.pruned = snapshot.pruned
    const steps = planRound(this.#list.tickets, snapshot, { now: this.#now, ...this.#settings })
    for (const step of steps) this.#count(step)
    for (const step of steps) if (step.action !== 'send') this.#settle(step, snapshot)
    // Stored before the first notification: a notification that cannot be remembered must not be sent.
    this.#save(snapshot)
    for (const step of steps) {
      if (this.#deps.isStopping()) return
      if (step.action === 'send') await this.#notify(step, snapshot)
    }
  }

  #count(step: Step): void {
    if (step.action !== 'remember') this.counts[step.kind === 'new' ? 'new' : 'changed'] += 1
    if (step.action === 'suppress') this.counts.suppressed[step.reason] += 1
  }

  /** Does the steps that send nothing. */
  #settle(step: Exclude<Step, { action: 'send' }>, snapshot: Snapshot): void {
    if (step.action === 'suppress') this.#suppress(step)
    // The ticket keeps its old entry, so that the next round compares it again.
    if (step.action === 'suppress' && step.reason === 'budget') return
    this.#record.remove('budget', step.ticket.id)
    snapshot.set(step.ticket.id, step.entry)
  }

  #suppress(step: Extract<Step, { action: 'suppress' }>): void {
    const { reason, kind, ticket } = step
    this.#deps.log.info('suppressed', { reason, kind, ticket: ticket.id, title: ticket.title })
    // A ticket waits for the budget once, however often it changes meanwhile.
    const key = reason === 'budget' ? ticket.id : eventKey(step)
    this.#record.add(reason, key, ticketNotice(step).title)
  }

  async #notify(event: TicketEvent, snapshot: Snapshot): Promise<void> {
    const notice = ticketNotice(event)
    const result = await this.#send(notice)
    // A send that a signal has interrupted is not a refusal: the next round repeats it.
    const wasCutOff = this.#deps.isStopping() && !wasDelivered(result)
    if (wasCutOff || failedOnBoth(result)) {
      this.counts.failed += 1
      return
    }
    const isDelivered = wasDelivered(result)
    if (isDelivered) this.counts.sent += 1
    else this.#noteUndelivered(event, notice)
    this.#record.remove('budget', event.ticket.id)
    snapshot.set(event.ticket.id, isDelivered ? toToldEntry(event.entry) : event.entry)
    this.#save(snapshot)
  }

  #noteUndelivered(event: TicketEvent, { title }: Notification): void {
    this.counts.undelivered += 1
    this.#record.add('undelivered', eventKey(event), title)
    const ticket = event.ticket.id
    this.#deps.log.warn('no channel took the notification, and it is not tried again', { ticket })
  }

  async #send(notice: Notification): Promise<NotifyResult> {
    const startedAt = this.#deps.monotonic()
    const result = await this.#deps.send(notice)
    this.counts.sendingMs += this.#deps.monotonic() - startedAt
    logResult(this.#deps.log, notice, result)
    return result
  }

  /** The first round of a day sends what was not sent before. */
  async #sendDigest(): Promise<void> {
    const { store, log, isStopping } = this.#deps
    const isDue = this.#record.since < this.#today && !this.#record.isEmpty
    if (!this.#settings.digest || !isDue || isStopping()) return
    // A digest whose day cannot be saved would be sent in every round.
    asSaveError(() => store.saveDigestRecord(this.#record))
    const result = await this.#send(digestNotice(this.#record.sections(), this.#record.since, this.#today))
    if (wasDelivered(result)) asSaveError(() => store.saveDigestRecord(new DigestRecord(this.#today)))
    else log.warn('no channel took the digest; the next round tries again')
  }

  /** The record first: an event in both counts once, one in neither would be lost. */
  #save(snapshot: Snapshot): void {
    this.#saveRecord()
    asSaveError(() => this.#deps.store.save(snapshot))
  }

  #saveRecord(): void {
    if (this.#settings.digest && this.#record.isChanged)
      asSaveError(() => this.#deps.store.saveDigestRecord(this.#record))
  }
}

function newCounts({ fetched, malformed }: TicketList): RoundCounts {
  const suppressed = Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<Reason, number>
  const counts = { new: 0, changed: 0, sent: 0, failed: 0, undelivered: 0, pruned: 0, sendingMs: 0 }
  return { fetched, malformed, ...counts, suppressed }
}

function eventKey({ kind, ticket, from }: TicketEvent): string {
  return `${ticket.id}:${kind}:${from ?? ''}>${ticket.status}:${ticket.updatedAtText}`
}

function logResult(log: Log, { title, key }: Notification, result: NotifyResult): void {
  const fields = { title, key, ...result }
  if (failedOnBoth(result)) log.error('notification failed on both channels', fields)
  else if (result.mail === 'failed' || result.robot === 'failed') log.warn('one channel failed', fields)
  else if (result.refused !== undefined) log.warn('mail was refused for some recipients', fields)
  else log.info('notified', fields)
}

function asSaveError<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw new SaveError(messageOf(error), { cause: error })
  }
}
