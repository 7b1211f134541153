import { declaredAlarmId } from '../../../kernel/alerts.ts'
import { invalidField, requireFound } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Counter } from '../../../kernel/metrics.ts'
import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import { CLOCK_DIFFERENCE_MS, DAY, MINUTE, toRfc3339, type TimeSpan } from '../../../kernel/time.ts'
import type { PlatformAlert, PlatformRecovery, RecoverableAlerts } from '../../../ports/alerts.ts'
import type { EventSink } from '../../../ports/events.ts'
import type { Queries, ServiceDeps, Tx } from '../../../store/store.ts'
import { WORKER } from '../transitions.ts'
import { clip } from '../notifications/message.ts'
import type { AlertView } from '../model.ts'
import {
  SILENCE_ALERTS,
  SILENCE_EVENTS,
  isMatched,
  NOTICE_BEFORE_MS,
  REPEAT_MAX_MS,
  SETTLE_MS,
  SHOWN_WINDOWS,
  SILENCE_MAX_MS,
  stateOf,
  wasSetBack,
  windowOf,
  windowsOf,
  workAt,
  type NewSilence,
  type Silence,
  type SilenceState,
  type SilenceTimes,
} from './model.ts'
import {
  deleteEnded,
  endSilence,
  findSilence,
  insertSilence,
  listDueSilences,
  listOverlapping,
  listSilences,
  lockSilence,
  moveDue,
  moveWindow,
  recordEnd,
} from './store.ts'

/** A silence with its state at the moment. */
export interface SilenceView extends Silence {
  readonly state: SilenceState
}

/** A time in which a silence is active. */
export interface SilenceWindow extends TimeSpan {
  readonly silenceId: string
  readonly reason: string
}

/** What silences need of the rest of the platform. */
export interface SilenceDeps extends ServiceDeps {
  readonly events: EventSink<SilenceView>
  readonly alerts: RecoverableAlerts & {
    /** Decides again about the notifications of the firing alerts that an ended silence has matched. */
    endSilence(isMatched: (alert: AlertView) => boolean, signal: AbortSignal): Promise<void>
  }
}

const WEEK = 7 * DAY
// A window takes a while to compute, so this many silences are shown; each shows the reason. One that began before the week
// may end in it.
const CALENDAR_SILENCES = 50
const CALENDAR_WINDOWS = 8
const CALENDAR_REASON = 120
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
      labels: { change: ['created', 'ended'] },
    })
  }

  /** Rejects with `validation_failed` for a time span that is not allowed. */
  async create(tx: Tx, wanted: NewSilence, actor: string): Promise<SilenceView> {
    const now = this.#deps.clock.now()
    const { matchers, labelMatchers = null, reason, repeat = null } = wanted
    const span = requireSpan(now, wanted)
    const window = repeat && requireWindow({ ...span, repeat }, now)
    const silence = {
      id: newId(),
      matchers,
      labelMatchers,
      reason,
      ...span,
      repeat,
      windowStartsAt: window?.startsAt ?? null,
      windowEndsAt: window?.endsAt ?? null,
      seenAt: now,
      createdBy: actor,
      createdAt: now,
      endedBy: null,
      version: 1,
    }
    await insertSilence(tx, { ...silence, dueAt: workAt(silence, window ?? span, now) })
    return this.#announce(tx, 'created', silence, actor)
  }

  /** Newest first. */
  async list(state: SilenceState | undefined, page: PageRequest): Promise<Page<SilenceView>> {
    const { clock, store } = this.#deps
    const now = clock.now()
    const silences = await listSilences(store.read, state ? { [state]: now } : {}, page)
    return mapPage(silences, (silence) => viewOf(silence, now))
  }

  /** Rejects with `silence_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<SilenceView> {
    const silence = requireFound(await findSilence(queries, id), 'silence', id)
    return viewOf(silence, this.#deps.clock.now())
  }

  /** The next windows of a silence, the current one first. */
  windows(silence: Silence): TimeSpan[] {
    return [...windowsOf(silence, this.#deps.clock.now()).take(SHOWN_WINDOWS)]
  }

  /** The windows of silences in the week from that time on, the earliest first; of very many silences only the newest. */
  async calendar(startsAt: number): Promise<SilenceWindow[]> {
    const endsAt = startsAt + WEEK
    const silences = await listOverlapping(this.#deps.store.read, startsAt, endsAt, CALENDAR_SILENCES)
    const windows = silences.flatMap((silence) =>
      windowsOf(silence, startsAt)
        .take(CALENDAR_WINDOWS)
        .filter((window) => window.startsAt < endsAt)
        .map((window) => ({
          ...window,
          silenceId: silence.id,
          reason: clip(silence.reason, CALENDAR_REASON),
        }))
        .toArray(),
    )
    return windows.toSorted((one, other) => one.startsAt - other.startsAt)
  }

  /** Ends a silence now; one that has ended stays as it is. Rejects with `silence_not_found`. */
  async end(tx: Tx, id: string, actor: string): Promise<void> {
    const now = this.#deps.clock.now()
    const silence = requireFound(await lockSilence(tx, id), 'silence', id)
    if (stateOf(silence, now) === 'ended') return
    await endSilence(tx, id, now, actor, now + SETTLE_MS)
    const ended = { ...silence, endsAt: now, endedBy: actor, version: silence.version + 1 }
    await this.#announce(tx, 'ended', ended, actor)
  }

  /**
   * Works on the silences that have begun or ended: after an end the alerts that still fire may have to be notified. When the
   * clock was set back, a silence that had begun may begin again.
   */
  async settleEnded(signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#deps
    const now = clock.now()
    // A silence that was worked on later than now is one of a clock that was set back.
    for (const { dueAt, ...silence } of await listDueSilences(store.read, now, now + CLOCK_DIFFERENCE_MS)) {
      if (signal.aborted) return
      const until = clock.now() + CLAIM_MS
      if (await store.write((tx) => moveDue(tx, silence.id, dueAt, until)))
        await this.#settle(silence, until, signal)
    }
  }

  /** Removes the silences that have ended before that time. */
  prune(before: number): Promise<number> {
    return this.#deps.store.write((tx) => deleteEnded(tx, before))
  }

  /** Works on a beginning or an end that is claimed until that time, or on the notice of the last end. */
  async #settle(silence: Silence, until: number, signal: AbortSignal): Promise<void> {
    const { alerts, clock, store } = this.#deps
    try {
      const now = clock.now()
      const { windowEndsAt, endsAt } = silence
      const hasEnded = Math.min(windowEndsAt ?? endsAt, endsAt) <= now
      if (hasEnded || (wasSetBack(silence, now) && stateOf(silence, now) !== 'active'))
        await alerts.endSilence((alert) => isMatched(silence, alert), signal)
      if (signal.aborted) return await this.#giveBack(silence, until)
      await store.write((tx) => this.#finish(tx, silence, until))
    } catch (error) {
      // The original error is thrown; the claim expires by itself if it cannot be given back.
      await this.#giveBack(silence, until).catch(() => undefined)
      throw error
    }
  }

  /**
   * Gives a claimed end back, so that another process can take it at once. It is due now and not earlier, so that other
   * ends come first.
   */
  async #giveBack({ id }: Silence, claimedUntil: number): Promise<void> {
    const { clock, store } = this.#deps
    await store.write((tx) => moveDue(tx, id, claimedUntil, clock.now()))
  }

  async #finish(tx: Tx, silence: Silence, claimedUntil: number): Promise<void> {
    const { alerts, clock } = this.#deps
    if (stateOf(silence, clock.now()) !== 'ended') return this.#continue(tx, silence, claimedUntil)
    if (!(await moveDue(tx, silence.id, claimedUntil, null))) return
    if (await recordEnd(tx, silence.id, WORKER))
      await this.#announce(tx, 'ended', { ...silence, endedBy: WORKER, version: silence.version + 1 }, WORKER)
    if (silence.repeat) await alerts.recoverIfRaised(tx, endedAlert(silence))
  }

  /** A silence has begun, or has another window; before the last end of one that repeats people are told. */
  async #continue(tx: Tx, silence: Silence, claimedUntil: number): Promise<void> {
    const { alerts, clock } = this.#deps
    const now = clock.now()
    const { id, repeat, endsAt } = silence
    const [next = { startsAt: endsAt, endsAt }] = windowsOf(silence, now).take(1)
    const isMoved = await moveWindow(tx, id, claimedUntil, {
      windowStartsAt: repeat && next.startsAt,
      windowEndsAt: repeat && next.endsAt,
      seenAt: now,
      dueAt: workAt(silence, next, now),
    })
    if (!isMoved || !repeat) return
    const noticeAt = endsAt - NOTICE_BEFORE_MS
    if (silence.createdAt < noticeAt && noticeAt <= now) await alerts.raise(tx, endingAlert(silence))
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

/** Refuses a span that is too long or ends before it begins. A silence that repeats may have no end. */
function requireSpan(now: number, { startsAt: from = now, endsAt, repeat }: NewSilence): TimeSpan {
  const longestMs = repeat ? REPEAT_MAX_MS : SILENCE_MAX_MS
  if (endsAt === undefined && !repeat) throw invalidField('ends_at', 'required_one_of', { field: 'repeat' })
  const to = endsAt ?? from + longestMs
  if (to <= now) throw invalidField('ends_at', 'not_in_future')
  if (to <= from) throw invalidField('ends_at', 'not_after', { field: 'starts_at' })
  if (to - from > longestMs)
    throw invalidField('ends_at', 'too_far_after', { maximum: `${longestMs / DAY} days`, field: 'starts_at' })
  return { startsAt: from, endsAt: to }
}

function requireWindow(silence: SilenceTimes, now: number): TimeSpan {
  const { startsAt, endsAt } = windowOf(silence, now)
  if (startsAt >= endsAt) throw invalidField('repeat', 'never_between', { from: 'starts_at', to: 'ends_at' })
  return { startsAt, endsAt }
}

const alarmOf = ({ id }: Silence) => ({
  alarmId: declaredAlarmId(SILENCE_ALERTS, 'silence.ending:*', id),
  source: 'platform.alerts',
})

function endingAlert(silence: Silence): PlatformAlert {
  return {
    ...alarmOf(silence),
    title: 'A silence does not repeat any more after tomorrow',
    body: `The silence ${silence.id} (${silence.reason}) ends at ${toRfc3339(silence.endsAt)}. From then on its alerts are told.`,
    severity: 'WARNING',
  }
}

function endedAlert(silence: Silence): PlatformRecovery {
  return {
    ...alarmOf(silence),
    title: 'A silence has ended',
    body: `The silence ${silence.id} (${silence.reason}) has ended at ${toRfc3339(silence.endsAt)}.`,
  }
}
