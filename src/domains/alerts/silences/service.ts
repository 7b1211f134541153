import type { Clock } from '../../../kernel/clock.ts'
import { invalidField, notFound } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Counter, Metrics } from '../../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../../kernel/page.ts'
import { MINUTE } from '../../../kernel/time.ts'
import type { EventSink } from '../../../ports/events.ts'
import type { Queries, Store, Tx } from '../../../store/store.ts'
import { WORKER } from '../judgement.ts'
import type { AlertView } from '../model.ts'
import { SILENCE_EVENTS } from './events.ts'
import {
  isMatched,
  SILENCE_MAX_MS,
  stateOf,
  type NewSilence,
  type Silence,
  type SilenceState,
} from './model.ts'
import {
  claimEnd,
  deleteEnded,
  endSilence,
  findSilence,
  insertSilence,
  listDueSilences,
  listSilences,
  lockSilence,
  recordEnd,
} from './store.ts'

/** A silence with its state at the moment. */
export interface SilenceView extends Silence {
  readonly state: SilenceState
}

/** What silences need of the rest of the platform. */
export interface SilenceDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<SilenceView>
  readonly alerts: {
    /** Decides again about the notifications of the firing alerts that an ended silence has matched. */
    endSilence(isMatched: (alert: AlertView) => boolean, signal: AbortSignal): Promise<void>
  }
}

/** How long the work on one end may take until another process repeats it. */
const CLAIM_MS = 5 * MINUTE

/** The silences, from their creation to their end. */
export class Silences {
  readonly #deps: SilenceDeps
  readonly #changes: Counter

  constructor(deps: SilenceDeps) {
    this.#deps = deps
    this.#changes = deps.metrics.counter({
      name: 'alert_silence_changes_total',
      help: 'Silences that were created or have ended.',
      labels: ['change'],
    })
    for (const change of ['created', 'ended']) this.#changes.increment({ change }, 0)
  }

  /** Rejects with `validation_failed` for a time span that is not allowed. */
  async create(tx: Tx, wanted: NewSilence, actor: string): Promise<SilenceView> {
    const now = this.#deps.clock.now()
    const { matchers, reason, startsAt = now, endsAt } = wanted
    requireSpan(startsAt, endsAt, now)
    const silence = {
      id: newId(),
      matchers,
      reason,
      startsAt,
      endsAt,
      createdBy: actor,
      createdAt: now,
      endedBy: null,
    }
    await insertSilence(tx, silence)
    return this.#announce(tx, 'created', silence, actor)
  }

  /** Newest first. */
  async list(state: SilenceState | undefined, page: PageRequest): Promise<Page<SilenceView>> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const { items, next } = await listSilences(store.read, { now, ...(state && { state }) }, page)
    return { items: items.map((silence) => viewOf(silence, now)), next }
  }

  /** Rejects with `silence_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<SilenceView> {
    const silence = requireSilence(await findSilence(queries, id), id)
    return viewOf(silence, this.#deps.clock.now())
  }

  /** Ends a silence now; one that has ended stays as it is. Rejects with `silence_not_found`. */
  async end(tx: Tx, id: string, actor: string): Promise<void> {
    const now = this.#deps.clock.now()
    const silence = requireSilence(await lockSilence(tx, id), id)
    if (stateOf(silence, now) === 'ended') return
    await endSilence(tx, id, now, actor)
    await this.#announce(tx, 'ended', { ...silence, endsAt: now, endedBy: actor }, actor)
  }

  /** Works on the silences that have ended: the alerts that still fire may have to be notified now. */
  async settleEnded(signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#deps
    for (const { dueAt, ...silence } of await listDueSilences(store.read, clock.now())) {
      if (signal.aborted) return
      const until = clock.now() + CLAIM_MS
      if (await store.write((tx) => claimEnd(tx, silence.id, { seen: dueAt, until })))
        await this.#settle(silence, until, signal)
    }
  }

  /** Removes the silences that have ended before that time. */
  prune(before: number): Promise<number> {
    return this.#deps.store.write((tx) => deleteEnded(tx, before))
  }

  /** Works on an end that is claimed until that time. */
  async #settle(silence: Silence, until: number, signal: AbortSignal): Promise<void> {
    const { alerts, store } = this.#deps
    try {
      await alerts.endSilence((alert) => isMatched(silence, alert), signal)
      if (signal.aborted) return await this.#giveBack(silence, until)
      await store.write((tx) => this.#finish(tx, silence, until))
    } catch (error) {
      // The error says more than that of giving back; without it the claim expires by itself.
      await this.#giveBack(silence, until).catch(() => undefined)
      throw error
    }
  }

  /** Another process may claim the end at once. It is due now and not earlier, so that other ends come first. */
  async #giveBack({ id }: Silence, seen: number): Promise<void> {
    const { clock, store } = this.#deps
    await store.write((tx) => claimEnd(tx, id, { seen, until: clock.now() }))
  }

  async #finish(tx: Tx, silence: Silence, seen: number): Promise<void> {
    if (!(await claimEnd(tx, silence.id, { seen, until: null }))) return
    if (await recordEnd(tx, silence.id, WORKER))
      await this.#announce(tx, 'ended', { ...silence, endedBy: WORKER }, WORKER)
  }

  async #announce(
    tx: Tx,
    change: 'created' | 'ended',
    silence: Silence,
    actor: string,
  ): Promise<SilenceView> {
    const { clock, events, logger } = this.#deps
    const data = viewOf(silence, clock.now())
    const type = change === 'created' ? SILENCE_EVENTS.silenceCreated : SILENCE_EVENTS.silenceEnded
    await events.append(tx, { type, subject: silence.id, data })
    tx.afterCommit(() => {
      this.#changes.increment({ change })
      logger.info({ silence_id: silence.id, actor }, `silence ${change}`)
    })
    return data
  }
}

function viewOf(silence: Silence, now: number): SilenceView {
  return { ...silence, state: stateOf(silence, now) }
}

function requireSilence<T>(silence: T | undefined, id: string): T {
  if (!silence) throw notFound('silence', id)
  return silence
}

function requireSpan(startsAt: number, endsAt: number, now: number): void {
  if (endsAt <= now) throw invalidField('ends_at', 'not_in_future')
  if (endsAt <= startsAt) throw invalidField('ends_at', 'not_after', { field: 'starts_at' })
  if (endsAt - startsAt > SILENCE_MAX_MS)
    throw invalidField('ends_at', 'too_far_after', { maximum: '30 days', field: 'starts_at' })
}
