import type { Alert } from './api.ts'
import type { Reason } from './gates.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { digestNotice, ticketNotice, unreadableStateAlert } from './notices.ts'
import { mustBeRetried, type Notification, type NotifyResult, wasHeard } from './notification.ts'
import type { Options } from './options.ts'
import { planRound, type Step, type Told } from './plan.ts'
import { Snapshot, toEntry } from './snapshot.ts'
import type { OpenedState, StateStore } from './state-store.ts'
import type { TicketList } from './tickets.ts'

export interface RoundDeps {
  readonly log: Log
  readonly store: StateStore
  now(): number
  /** For durations; never goes back. */
  monotonic(): number
  fetch(): Promise<TicketList>
  send(notification: Notification): Promise<NotifyResult>
  /** Reports an alert to the platform; rejects when it is not taken. */
  reportAlert(alert: Alert): Promise<void>
  /** Name of this host. */
  readonly server: string
  /** Somebody wants the round to end: nothing more is sent, what is done is saved. */
  isStopping(): boolean
}

export type RoundSettings = Pick<
  Options,
  'limit' | 'seedOnly' | 'freshMs' | 'maxNotify' | 'keepMs' | 'digest' | 'stateFile'
>

/** What `round done` tells. */
export interface Tally {
  fetched: number
  malformed: number
  new: number
  changed: number
  /** Notifications that at least one channel has taken. */
  sent: number
  /** Notifications that both channels refused; they are tried again in the next round. */
  failed: number
  /** Notifications that count as done although no channel took them (spec, rule 6). */
  unheard: number
  readonly suppressed: Record<Reason, number>
  pruned: number
  sendingMs: number
}

/** The state could not be saved: a round that went on would tell the same again next time. */
export class SaveError extends Error {
  override readonly name = 'SaveError'
}

/** One round. Throws a FetchError before anything was done, or a SaveError after which nothing more was sent. */
export async function runRound(deps: RoundDeps, settings: RoundSettings): Promise<Tally> {
  const list = await deps.fetch()
  const now = deps.now()
  const tally = newTally(list)
  warnOfWhatIsMissing(deps.log, list, settings.limit)
  const opened = deps.store.open({
    listed: new Set(list.tickets.map(({ id }) => id)),
    pruneBefore: now - settings.keepMs,
  })
  const today = new Date(now).toISOString().slice(0, 10)
  const round: Round = { deps, settings, tally, now, today, ledger: deps.store.openLedger(today) }
  if (opened.situation === 'known' && !settings.seedOnly) {
    tally.pruned = opened.snapshot.pruned
    await tellChanges(round, opened.snapshot, list)
    await tellDigest(round)
  } else {
    await register(round, opened, list)
  }
  return tally
}

interface Round {
  readonly deps: RoundDeps
  readonly settings: RoundSettings
  readonly tally: Tally
  readonly now: number
  readonly today: string
  readonly ledger: Ledger
}

function newTally({ fetched, malformed }: TicketList): Tally {
  const suppressed = { too_old: 0, too_old_transition: 0, level: 0, test: 0, budget: 0 }
  const counts = { new: 0, changed: 0, sent: 0, failed: 0, unheard: 0, pruned: 0, sendingMs: 0 }
  return { fetched, malformed, ...counts, suppressed }
}

function warnOfWhatIsMissing(log: Log, { fetched, malformed }: TicketList, limit: number): void {
  if (fetched >= limit) {
    log.warn('as many tickets came as were asked for: some may have been missed; raise --limit', {
      fetched,
      limit,
    })
  }
  if (malformed > 0) log.warn('tickets without a usable id were skipped', { malformed })
}

// --- A first round, or a seeding one ----------------------------------------------------------------------------

/** Takes all tickets as known, and sends nothing (spec, rule 2). */
async function register(round: Round, opened: OpenedState, { tickets }: TicketList): Promise<void> {
  const { deps, tally, now } = round
  const snapshot = opened.situation === 'known' ? opened.snapshot : Snapshot.empty()
  tally.pruned = snapshot.pruned
  for (const ticket of tickets) {
    const known = snapshot.get(ticket.id)
    if (!known) tally.new += 1
    snapshot.set(ticket.id, toEntry(ticket, known, now))
  }
  if (opened.situation === 'unreadable') await replaceUnreadable(round, snapshot, opened.reason)
  else save(round, snapshot)
  deps.log.info('tickets registered, nothing sent', {
    situation: opened.situation,
    registered: tickets.length,
  })
}

/** The alert comes first: a round that is killed or stopped here reports it again instead of never. */
async function replaceUnreadable(round: Round, snapshot: Snapshot, reason: string): Promise<void> {
  const { deps, settings, ledger, now } = round
  const state = settings.stateFile
  const alert = unreadableStateAlert(state, reason, deps.server)
  deps.log.error('the state file is unreadable: this is a first round', { state, reason })
  try {
    await deps.reportAlert(alert)
  } catch (error) {
    if (deps.isStopping()) return
    deps.log.error('the alert could not be reported', { alert: alert.alarm_id, reason: messageOf(error) })
    ledger.add('unheard', alert.alarm_id, `${alert.alarm_id}: the state file was unreadable`)
    saveLedger(round)
  }
  const aside = saving(() => deps.store.replaceUnreadable(snapshot, now))
  deps.log.warn('the unreadable state file is kept aside', { aside })
}

// --- Any other round --------------------------------------------------------------------------------------------

async function tellChanges(round: Round, snapshot: Snapshot, { tickets }: TicketList): Promise<void> {
  const steps = planRound(tickets, snapshot, { now: round.now, ...round.settings })
  for (const step of steps) settle(round, snapshot, step)
  // Also proves that there is room on the disk: what could not be remembered is not told.
  save(round, snapshot)
  for (const step of steps) {
    if (round.deps.isStopping()) break
    if (step.what === 'send') await tellTicket(round, snapshot, step)
  }
}

/** Everything of a step that needs nobody to be told. */
function settle({ deps, tally, ledger }: Round, snapshot: Snapshot, step: Step): void {
  const { ticket, entry } = step
  if (step.what !== 'refresh') tally[step.kind === 'new' ? 'new' : 'changed'] += 1
  if (step.what === 'send') return
  if (step.what === 'suppress') {
    tally.suppressed[step.reason] += 1
    deps.log.info('suppressed', {
      reason: step.reason,
      kind: step.kind,
      ticket: ticket.id,
      title: ticket.title,
    })
    ledger.add(step.reason, occasionKey(step), ticketNotice(step).title)
    // It keeps its old entry and is judged anew in the next round.
    if (step.reason === 'budget') return
  }
  ledger.strike('budget', ticket.id)
  snapshot.set(ticket.id, entry)
}

/** A ticket waits for a place in the budget once, however often it changes meanwhile. */
function occasionKey(step: Told & { readonly reason?: Reason }): string {
  const { kind, ticket, from } = step
  return step.reason === 'budget'
    ? ticket.id
    : `${ticket.id}:${kind}:${from ?? ''}>${ticket.status}:${ticket.updatedAtText}`
}

async function tellTicket(round: Round, snapshot: Snapshot, told: Told): Promise<void> {
  const { tally, ledger, deps } = round
  const notice = ticketNotice(told)
  const result = await tell(round, notice)
  // Cut off by a signal is not refused: whoever was not told yet is told next time.
  const wasCutOff = deps.isStopping() && !wasHeard(result)
  if (wasCutOff || mustBeRetried(result)) {
    tally.failed += 1
    return
  }
  if (wasHeard(result)) tally.sent += 1
  else {
    tally.unheard += 1
    ledger.add('unheard', occasionKey(told), notice.title)
    deps.log.warn('no channel took the notification, and it is not tried again', { ticket: told.ticket.id })
  }
  ledger.strike('budget', told.ticket.id)
  snapshot.set(told.ticket.id, told.entry)
  // spec, rule 7: after every notification
  save(round, snapshot)
}

/** Sends, and writes down what became of it. */
async function tell({ deps, tally }: Round, notice: Notification): Promise<NotifyResult> {
  const startedAt = deps.monotonic()
  const result = await deps.send(notice)
  tally.sendingMs += deps.monotonic() - startedAt
  const fields = { title: notice.title, key: notice.key, ...result }
  if (mustBeRetried(result)) deps.log.error('notification failed on both channels', fields)
  else if (result.mail === 'failed' || result.robot === 'failed') deps.log.warn('one channel failed', fields)
  else deps.log.info('notified', fields)
  return result
}

// --- What was not told ------------------------------------------------------------------------------------------

/** The first round of a day tells of everything that the rounds before did not. */
async function tellDigest(round: Round): Promise<void> {
  const { deps, settings, ledger, today } = round
  const pages = ledger.pages()
  const isDue = ledger.since < today && pages.length > 0
  if (!settings.digest || !isDue || deps.isStopping()) return
  // Proves that the day of this digest can be written: it is sent once a day.
  saving(() => deps.store.saveLedger(ledger))
  const result = await tell(round, digestNotice(pages, ledger.since, today))
  if (wasHeard(result)) saving(() => deps.store.saveLedger(createLedger(today)))
  else deps.log.warn('the digest was not taken by any channel; it is tried again', {})
}

/** The account first: what it names twice is named once, what it never named would be lost. */
function save(round: Round, snapshot: Snapshot): void {
  saveLedger(round)
  saving(() => round.deps.store.save(snapshot))
}

function saveLedger({ deps, ledger, settings }: Round): void {
  if (settings.digest && ledger.changed) saving(() => deps.store.saveLedger(ledger))
}

function saving<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw new SaveError(messageOf(error), { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
