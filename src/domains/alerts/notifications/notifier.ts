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
import { OUTCOMES, type Content, type Decided, type Decision, type Outcome, type Waiting } from './model.ts'
import { decide, decideDue, type Facts, type InhibitedBy, type SilencedBy } from './stages.ts'
import {
  countPending,
  decidePending,
  findEarlier,
  insertNotification,
  isDecidedInFreeze,
  listDecisions,
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
    const decided = decide(await this.#factsOf(tx, { occasion: occasion.kind, weight: alert.weight }, alert))
    if (!decided) return
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
      content: isPending ? contentOf(occasion, alert) : null,
      messageId: null,
    })
  }

  /**
   * Repeats the decision on each pending notification with the present state of its alert, and returns the notifications
   * that are still pending. The decision on an end depends on the earlier decisions of its alert, so they are made in order.
   */
  async judgeAgain(tx: Tx, pending: readonly Waiting[]): Promise<Waiting[]> {
    const alerts = await shareAlerts(tx, [...new Set(pending.map(({ alertId }) => alertId))])
    const due = new Set<string>()
    for (const notification of pending.toSorted((a, b) => a.seq - b.seq)) {
      // The notifications of an alert that was pruned meanwhile are gone with it.
      const alert = alerts.get(notification.alertId)
      if (alert && (await this.#isStillDue(tx, notification, alert))) due.add(notification.id)
    }
    return pending.filter(({ id }) => due.has(id))
  }

  /** The decisions on an alert, newest first. */
  list(alertId: string, page: PageRequest): Promise<Page<Decision>> {
    return listDecisions(this.#options.store.read, alertId, page)
  }

  /** Counts notifications with an outcome. */
  count(outcome: Outcome, by: number): void {
    this.#decisions.increment({ channel: this.#options.channelName, outcome }, by)
  }

  async #isStillDue(tx: Tx, notification: Waiting, alert: Alert): Promise<boolean> {
    const decided = decideDue(await this.#factsOf(tx, notification, alert))
    if (decided.outcome === 'pending') return true
    await decidePending(tx, notification.id, decided)
    tx.afterCommit(() => this.count(decided.outcome, 1))
    return false
  }

  async #factsOf(tx: Tx, { occasion, weight, seq }: Judged, alert: Alert): Promise<Facts> {
    const { isEnabled, minWeight, suppressions } = this.#options
    const facts = { occasion, alert: { weight, status: alert.status }, isEnabled, minWeight }
    // Without a channel nothing else matters, and alerts cost no further queries.
    if (!isEnabled) return { ...facts, silencedBy: undefined, inhibitedBy: undefined, earlier: undefined }
    return {
      ...facts,
      silencedBy: await suppressions.silencedBy(tx, alert),
      inhibitedBy: await suppressions.inhibitedBy(tx, alert),
      earlier: await findEarlier(tx, alert.id, seq),
    }
  }
}

/** A new notification, which has no number yet, or a pending one. */
type Judged = Pick<Waiting, 'occasion' | 'weight'> & Partial<Pick<Waiting, 'seq'>>

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

function contentOf(occasion: AlertOccasion, { title, alarmId, serverAddr, body, weight }: Alert): Content {
  return {
    title,
    alarmId,
    serverAddr,
    excerpt: clip(body, EXCERPT_CHARACTERS),
    note: noteOf(occasion, weight),
  }
}

function noteOf(occasion: AlertOccasion, weight: AlertWeight): string | null {
  if (!('swings' in occasion)) return null
  const { swings, reports } = occasion
  const state = weight === 0 ? 'recovered' : severityOf(weight)
  return `${swingsText(swings, reports)}; now ${state}`
}
