import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../../kernel/clock.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Counter, Metrics } from '../../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../../kernel/page.ts'
import { SECOND } from '../../../kernel/time.ts'
import type { Store, Tx } from '../../../store/store.ts'
import { swingsText } from '../judgement.ts'
import { severityOf, type Alert, type AlertWeight } from '../model.ts'
import { shareAlerts } from '../store.ts'
import type { AlertNotifications, AlertOccasion } from '../occasion.ts'
import { clip } from './message.ts'
import {
  OUTCOMES,
  SUPERSEDED,
  textHashOf,
  type Content,
  type Decided,
  type Decision,
  type OccasionKind,
  type Outcome,
  type Told,
  type Waiting,
} from './model.ts'
import { decide, isOfFreeze, OF_UNCHANGED, type Facts, type InhibitedBy, type SilencedBy } from './stages.ts'
import {
  countPending,
  decidePending,
  findHeldBack,
  findLatest,
  findTold,
  insertNotification,
  isDecidedInFreeze,
  listDecisions,
  listPendingOf,
  recordKnown,
  refreshPending,
} from './store.ts'

/** The silence and the alert that suppress the notifications of an alert; read in the transaction of the decision. */
export interface Suppressions {
  silencedBy(tx: Tx, alert: Alert): Promise<SilencedBy | undefined>
  inhibitedBy(tx: Tx, alert: Alert): Promise<InhibitedBy | undefined>
}

export interface NotifierOptions {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly suppressions: Suppressions
  readonly channelName: string
  /** Whether the channel is configured. */
  readonly isEnabled: boolean
  readonly minWeight: AlertWeight
  /** Called after the commit of a pending notification. */
  readonly onPending: () => void
}

// Enough for the cause of an alert; the whole body is in the API.
const EXCERPT_CHARACTERS = 1_000
// How old the number of pending notifications may be; a scrape that reads it counts up to 100,000 rows.
const PENDING_AGE_MS = 5 * SECOND

/** Decides for each occasion whether people are notified, and stores the decision in the transaction of the change. */
export class Notifier implements AlertNotifications {
  readonly #options: NotifierOptions
  readonly #decisions: Counter

  constructor(options: NotifierOptions) {
    const { metrics, store } = options
    this.#options = options
    this.#decisions = metrics.counter({
      name: 'alert_notifications_total',
      help: 'Notifications of alerts by outcome.',
      labels: ['channel', 'outcome'],
    })
    for (const outcome of OUTCOMES) if (outcome !== 'pending') this.count(outcome, 0)
    const pending = metrics.gauge({
      name: 'alert_notifications_pending',
      help: 'Notifications that are not sent yet, counted up to 100,000.',
    })
    const collect = async () => pending.set(await countPending(store.read))
    metrics.onScrape(collect, [pending], PENDING_AGE_MS)
  }

  async notify(tx: Tx, occasion: AlertOccasion, alert: Alert): Promise<void> {
    const { channelName: channel, isEnabled } = this.#options
    // The first decision says so already.
    if (!isEnabled && occasion.kind === 'repeated') return
    const { sending, waiting } = isEnabled ? await listPendingOf(tx, alert.id, channel) : NOTHING_PENDING
    // What waits is judged by the state at the time when it is sent.
    if (OF_UNCHANGED.has(occasion.kind) && waiting.length > 0) return
    if (alert.status !== 'frozen' || isOfFreeze(occasion.kind))
      for (const { id } of waiting) await this.#decide(tx, id, SUPERSEDED)
    const decided = decide(await this.#factsOf(tx, occasion.kind, alert, sending))
    if (decided) await this.#insert(tx, occasion, alert, decided)
  }

  async review(tx: Tx, before: Alert, alert: Alert): Promise<void> {
    if (!this.#options.isEnabled) return
    const latest = await findLatest(tx, alert.id, this.#options.channelName)
    const kind = END_OF.get(latest?.outcome) ?? (await this.#suppressionEnd(tx, before))
    if (!kind) return
    const { sending, waiting } = await listPendingOf(tx, alert.id, this.#options.channelName)
    if (waiting.length > 0) return
    const decided = decide(await this.#factsOf(tx, kind, alert, sending))
    if (decided?.outcome === 'pending') await this.#insert(tx, { kind }, alert, decided)
  }

  async acknowledged(tx: Tx, alert: Alert): Promise<void> {
    if (this.#options.isEnabled)
      await recordKnown(tx, { alertId: alert.id, weight: alert.weight, textHash: textHashOf(alert) })
  }

  /**
   * Repeats the decision on each pending notification with the present state of its alert, and returns the notifications
   * that are still pending, in the same order, with that state.
   */
  async judgeAgain(tx: Tx, pending: readonly Waiting[]): Promise<Waiting[]> {
    const alerts = await shareAlerts(tx, [...new Set(pending.map(({ alertId }) => alertId))])
    const newest = new Map(
      pending.toSorted((a, b) => a.seq - b.seq).map(({ alertId, seq }) => [alertId, seq]),
    )
    const due: Waiting[] = []
    for (const notification of pending) {
      // The notifications of an alert that was pruned meanwhile are gone with it.
      const alert = alerts.get(notification.alertId)
      if (!alert) continue
      const isNewest = newest.get(alert.id) === notification.seq
      const current = isNewest ? await this.#stillDue(tx, notification, alert) : undefined
      if (current) due.push(current)
      else if (!isNewest) await this.#decide(tx, notification.id, SUPERSEDED)
    }
    return due
  }

  /** The decisions on an alert, newest first. */
  list(alertId: string, page: PageRequest): Promise<Page<Decision>> {
    return listDecisions(this.#options.store.read, alertId, page)
  }

  /** Counts notifications with an outcome. */
  count(outcome: Outcome, by: number): void {
    this.#decisions.increment({ channel: this.#options.channelName, outcome }, by)
  }

  /** The notification with the present state of its alert; undefined if that is not to be told. */
  async #stillDue(tx: Tx, notification: Waiting, alert: Alert): Promise<Waiting | undefined> {
    const { id, occasion, content } = notification
    const decided = decide(await this.#factsOf(tx, occasion, alert, undefined)) ?? SUPERSEDED
    if (decided.outcome !== 'pending') {
      await this.#decide(tx, id, decided)
      return undefined
    }
    const { weight, source } = alert
    const current = { ...notification, weight, source, content: contentOf(content.note, alert) }
    if (!isDeepStrictEqual(current, notification)) await refreshPending(tx, current)
    return current
  }

  async #insert(tx: Tx, occasion: AlertOccasion, alert: Alert, decided: Decided): Promise<void> {
    const { channelName: channel, clock, onPending } = this.#options
    const isPending = decided.outcome === 'pending'
    tx.afterCommit(isPending ? onPending : () => this.count(decided.outcome, 1))
    if (await isRepeated(tx, occasion, alert, decided)) return
    await insertNotification(tx, {
      id: newId(),
      alertId: alert.id,
      at: clock.now(),
      occasion: occasion.kind,
      channel,
      ...decided,
      source: alert.source,
      weight: alert.weight,
      content: isPending ? contentOf(noteOf(occasion, alert.weight), alert) : null,
      messageId: null,
    })
  }

  async #decide(tx: Tx, id: string, decided: Decided): Promise<void> {
    await decidePending(tx, id, decided)
    tx.afterCommit(() => this.count(decided.outcome, 1))
  }

  /** The occasion at which the alert is told if what suppresses it ends with a change of its texts. */
  async #suppressionEnd(tx: Tx, alert: Alert): Promise<'silence_ended' | 'inhibition_ended' | undefined> {
    const { suppressions } = this.#options
    if (await suppressions.silencedBy(tx, alert)) return 'silence_ended'
    return (await suppressions.inhibitedBy(tx, alert)) && 'inhibition_ended'
  }

  /** `sending`: what a message says that the receiver may have got. */
  async #factsOf(tx: Tx, occasion: OccasionKind, alert: Alert, sending: Told | undefined): Promise<Facts> {
    const { channelName, isEnabled, minWeight, suppressions } = this.#options
    const facts = { occasion, alert, textHash: textHashOf(alert), isEnabled, minWeight }
    // Without a channel nothing else matters, and alerts cost no further queries.
    if (!isEnabled)
      return { ...facts, silencedBy: undefined, inhibitedBy: undefined, told: undefined, heldBack: undefined }
    const told = sending ?? (await findTold(tx, alert.id, channelName))
    return {
      ...facts,
      silencedBy: await suppressions.silencedBy(tx, alert),
      inhibitedBy: await suppressions.inhibitedBy(tx, alert),
      told,
      // Only the end of an alert that was not told needs the reason.
      heldBack: alert.weight === 0 ? await findHeldBack(tx, alert.id, channelName) : undefined,
    }
  }
}

const NOTHING_PENDING = { sending: undefined, waiting: [] } as const

/** The occasion at which an alert is told that was held back for that reason. */
const END_OF: ReadonlyMap<Outcome | undefined, 'silence_ended' | 'inhibition_ended'> = new Map<
  Outcome | undefined,
  'silence_ended' | 'inhibition_ended'
>([
  ['silenced', 'silence_ended'],
  ['inhibited', 'inhibition_ended'],
])

/** A frozen alert may change very often: a freeze stores one decision of each kind; the metric counts all of them. */
async function isRepeated(
  tx: Tx,
  { kind: occasion }: AlertOccasion,
  { id, status }: Alert,
  { outcome }: Decided,
): Promise<boolean> {
  if (status !== 'frozen' || occasion === 'frozen') return false
  return isDecidedInFreeze(tx, id, { occasion, outcome })
}

function contentOf(note: string | null, alert: Alert): Content {
  const { title, alarmId, serverAddr, body } = alert
  const excerpt = clip(body, EXCERPT_CHARACTERS)
  return { title, alarmId, serverAddr, excerpt, note, textHash: textHashOf(alert) }
}

function noteOf(occasion: AlertOccasion, weight: AlertWeight): string | null {
  if (!('swings' in occasion)) return null
  const { swings, reports } = occasion
  const state = weight === 0 ? 'recovered' : severityOf(weight)
  return `${swingsText(swings, reports)}; now ${state}`
}
