import { isDeepStrictEqual } from 'node:util'
import { formatCount } from '../../../kernel/text.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Counter } from '../../../kernel/metrics.ts'
import { CLOCK_DIFFERENCE_MS, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import { storedTrace } from '../../../kernel/trace.ts'
import type { ServiceDeps, Tx } from '../../../store/store.ts'
import { swingsText } from '../transitions.ts'
import { severityOf, type Alert, type AlertWeight } from '../model.ts'
import { shareAlerts } from '../store.ts'
import type { AlertNotifications, AlertOccasion } from '../occasion.ts'
import { dampen, isHolding, UNDAMPED, type Damping, type DampingStep } from './damping.ts'
import { isFollowed, withStart } from './episodes.ts'
import { clip } from './message.ts'
import {
  OUTCOMES,
  SUPERSEDED,
  textHashOf,
  type NotificationContent,
  type Decision,
  type Outcome,
  type NotifiedState,
  type WaitingNotification,
} from './model.ts'
import { matchedRoutes, targetOf, targetsOf, notificationTime, type Routing, type Target } from './routing.ts'
import {
  DAMPED,
  decide,
  isFreezeOccasion,
  OCCASIONS_WITHOUT_CHANGE,
  type Facts,
  type InhibitedBy,
  type SilencedBy,
} from './stages.ts'
import { countPending } from './message-store.ts'
import {
  decidePending,
  deleteEpisodes,
  findDamping,
  findDecisionInFreeze,
  findDecisionInQuiet,
  findHeldBack,
  findLatest,
  insertNotification,
  listDampings,
  listEpisodes,
  listPendingOf,
  listNotifiedStates,
  listStatesNotifiedTo,
  postponePending,
  recordKnown,
  refreshPending,
  saveDamping,
  saveEpisode,
} from './store.ts'

/** The silence and the alert that suppress the notifications of an alert; read in the transaction of the decision. */
export interface Suppressions {
  silencedBy(tx: Tx, alert: Alert): Promise<SilencedBy | undefined>
  inhibitedBy(tx: Tx, alert: Alert): Promise<InhibitedBy | undefined>
}

export interface NotifierOptions extends Pick<ServiceDeps, 'store' | 'clock' | 'metrics'> {
  readonly suppressions: Suppressions
  readonly routing: Routing
  /** The alert as the API shows it, as JSON. */
  readonly encodeAlert?: (alert: Alert) => string
  /** Called after the commit of a pending notification of that receiver. */
  readonly onPending: (receiver: string) => void
}

/** The receiver in decisions where nobody is configured. */
const NO_RECEIVER = 'robot'
// Enough for the cause of an alert; the whole body is in the API.
const EXCERPT_CHARACTERS = 1_000
// How old the number of pending notifications may be; a scrape that reads it counts up to 100,000 rows.
const PENDING_AGE_MS = 5 * SECOND

/** The facts that the decisions on one alert share for all receivers. */
interface SharedFacts {
  readonly notified: ReadonlyMap<string, NotifiedState>
  readonly pending: Awaited<ReturnType<typeof listPendingOf>>
  readonly silencedBy: SilencedBy | undefined
  readonly inhibitedBy: InhibitedBy | undefined
  readonly damping: Damping | undefined
}

/** A decision that is not stored yet. */
interface TargetDecision extends Target {
  readonly decision: Decision
  /** The weight by which the hours of the route are judged. */
  readonly urgency: AlertWeight
  /** Whether the receiver knows that the alert fires. */
  readonly isKnown: boolean
}

/** Decides for each occasion whether people are notified, and stores the decision in the transaction of the change. */
export class Notifier implements AlertNotifications {
  readonly #options: NotifierOptions
  readonly #decisions: Counter

  constructor(options: NotifierOptions) {
    const { metrics, routing, store } = options
    this.#options = options
    this.#decisions = metrics.counter({
      name: 'alert_notifications_total',
      help: 'Notifications of alerts by receiver and outcome.',
      labels: ['channel', 'outcome'],
    })
    const names = routing.receivers.length > 0 ? routing.receivers : [NO_RECEIVER]
    for (const name of names)
      for (const outcome of OUTCOMES) if (outcome !== 'pending') this.count(name, outcome, 0)
    const pending = metrics.gauge({
      name: 'alert_notifications_pending',
      help: 'Notifications that are not sent yet, counted up to 100,000.',
    })
    const collect = async () => pending.set((await countPending(store.read)) ?? 0)
    metrics.onScrape(collect, [pending], PENDING_AGE_MS)
  }

  async notify(tx: Tx, occasion: AlertOccasion, alert: Alert): Promise<void> {
    const { routing } = this.#options
    if (routing.receivers.length === 0) return this.#decideForNobody(tx, occasion, alert)
    const routes = matchedRoutes(alert, routing)
    // Where a route sets a time for repetitions, `notifyAgain` repeats for all who were notified.
    if (occasion.kind === 'repeated' && routes.some(({ repeatEveryMs }) => repeatEveryMs !== undefined))
      return
    const shared = await this.#readShared(tx, alert)
    const targets = targetsOf(alert, receiversToInform(shared), routing)
    if (targets.length === 0) return this.#decideForNobody(tx, occasion, alert)
    await this.#notifyTargets(tx, occasion, alert, targets, shared)
  }

  /** Notifies the receivers of a step of escalation, or again everybody who was notified; see `episodes`. */
  async notifyAgain(
    tx: Tx,
    kind: 'escalated' | 'repeated',
    alert: Alert,
    step: readonly Target[],
  ): Promise<void> {
    const { routing } = this.#options
    const shared = await this.#readShared(tx, alert)
    const notified = () => receiversToInform(shared).flatMap((receiver) => targetOf(alert, receiver, routing))
    const targets = kind === 'escalated' ? step : notified()
    await this.#notifyTargets(tx, { kind }, alert, targets, shared)
  }

  /** Whether nobody is notified of the alert at the moment; what is due waits until that has ended. */
  async isSuppressed(tx: Tx, alert: Alert): Promise<boolean> {
    const { damping, inhibitedBy, silencedBy } = await this.#readShared(tx, alert)
    const isQuiet = (damping?.quietSince ?? null) !== null
    return isQuiet || silencedBy !== undefined || inhibitedBy !== undefined || alert.status === 'frozen'
  }

  async review(tx: Tx, before: Alert, alert: Alert): Promise<void> {
    const { routing } = this.#options
    if (routing.receivers.length === 0) return
    const shared = await this.#readShared(tx, alert)
    const ended = await this.#suppressionEnd(tx, before)
    const decisions: TargetDecision[] = []
    for (const target of targetsOf(alert, receiversToInform(shared), routing)) {
      if (waitingOf(shared, target).length > 0) continue
      const latest = await findLatest(tx, alert.id, target.receiver)
      // If another route decides now, there is no decision for its receivers yet.
      const kind = (latest && END_OF[latest.outcome]) ?? ended ?? 'raised'
      const targetDecision = await this.#judge(tx, kind, alert, target, shared)
      if (targetDecision?.decision.outcome !== 'pending') continue
      decisions.push(targetDecision)
      await this.#insert(tx, { kind }, alert, targetDecision)
    }
    await this.#keepEpisodes(tx, alert, decisions, 'notify')
  }

  async acknowledged(tx: Tx, alert: Alert): Promise<void> {
    if (this.#options.routing.receivers.length === 0) return
    await recordKnown(tx, alert.id, alert.weight, textHashOf(alert))
    await deleteEpisodes(tx, alert.id)
  }

  /**
   * Repeats the decision on each pending notification of a receiver with the present state of its alert, and returns the
   * notifications that are still pending, in the same order, with that state.
   */
  async judgeAgain(
    tx: Tx,
    receiver: string,
    pending: readonly WaitingNotification[],
    withAlerts = false,
  ): Promise<WaitingNotification[]> {
    const alerts = await shareAlerts(tx, [...new Set(pending.map(({ alertId }) => alertId))])
    const newest = new Map(
      pending.toSorted((a, b) => a.seq - b.seq).map(({ alertId, seq }) => [alertId, seq]),
    )
    const ids = [...alerts.keys()]
    if (ids.length === 0) return []
    const notified = await listStatesNotifiedTo(tx, receiver, ids)
    const quiet = this.#options.routing.isDamping ? await listDampings(tx, ids) : undefined
    const due: WaitingNotification[] = []
    for (const notification of pending) {
      // The notifications of an alert that was pruned meanwhile are gone with it.
      const alert = alerts.get(notification.alertId)
      if (!alert) continue
      if (newest.get(alert.id) !== notification.seq) {
        await this.#decide(tx, receiver, notification.id, SUPERSEDED)
        continue
      }
      const last = notified.get(alert.id)
      const known = {
        notified: new Map<string, NotifiedState>(last ? [[receiver, last]] : []),
        damping: quiet?.get(alert.id),
      }
      const current = await this.#stillDue(tx, receiver, notification, alert, known)
      if (current) due.push(withAlerts ? this.#withAlert(current, alert) : current)
    }
    return due
  }

  /** Counts notifications of a receiver with an outcome. */
  count(channel: string, outcome: Outcome, by: number): void {
    this.#decisions.increment({ channel, outcome }, by)
  }

  /** Decides for each of the receivers, and stores the decisions. */
  async #notifyTargets(
    tx: Tx,
    occasion: AlertOccasion,
    alert: Alert,
    targets: readonly Target[],
    shared: SharedFacts,
  ): Promise<void> {
    const decisions: TargetDecision[] = []
    // A waiting notification of a quiet alert stays; when it is sent, it shows the state at that time.
    const isHeld = shared.damping !== undefined && isHolding(shared.damping, occasion.kind, alert.weight)
    const isReplacing = !isHeld && (alert.status !== 'frozen' || isFreezeOccasion(occasion.kind))
    for (const target of targets) {
      const waiting = waitingOf(shared, target)
      // A waiting notification is judged again by the state at the time when it is sent.
      if (OCCASIONS_WITHOUT_CHANGE.has(occasion.kind) && waiting.length > 0) continue
      if (isReplacing) for (const { id } of waiting) await this.#decide(tx, target.receiver, id, SUPERSEDED)
      // Damping is judged for all receivers together.
      const decision = await this.#judge(tx, occasion.kind, alert, target, { ...shared, damping: undefined })
      if (decision) decisions.push(decision)
    }
    const { step, damping } = this.#dampen(occasion, alert, decisions, shared.damping)
    if (damping !== (shared.damping ?? UNDAMPED)) await saveDamping(tx, { alertId: alert.id, ...damping })
    const damped = { kind: 'damped', changes: damping.changes } as const
    for (const each of decisions) {
      const decision = isHeld && each.decision.outcome === 'pending' ? DAMPED : each.decision
      await this.#insert(
        tx,
        step === 'notify_last' ? damped : occasion,
        alert,
        { ...each, decision },
        damping,
      )
    }
    await this.#keepEpisodes(tx, alert, decisions, step)
  }

  #dampen(
    { kind }: AlertOccasion,
    { weight }: Alert,
    decisions: readonly TargetDecision[],
    before: Damping | undefined,
  ): { readonly step: DampingStep; readonly damping: Damping } {
    const { clock, routing } = this.#options
    const unchanged = { step: 'notify', damping: before ?? UNDAMPED } as const
    if (!routing.isDamping || kind === 'undamped') return unchanged
    const isNotified = decisions.some(({ decision }) => decision.outcome === 'pending')
    return dampen(before ?? UNDAMPED, kind, weight, clock.now(), isNotified)
  }

  /** An episode, in which a route escalates and repeats, begins with the first notification and ends with the alert. */
  async #keepEpisodes(
    tx: Tx,
    alert: Alert,
    decisions: readonly TargetDecision[],
    step: DampingStep,
  ): Promise<void> {
    const { clock, routing } = this.#options
    if (alert.weight === 0) {
      if (routing.routes.some(isFollowed) && alert.status !== 'frozen') await deleteEpisodes(tx, alert.id)
      return
    }
    const notified = decisions.filter(
      ({ decision, route }) => decision.outcome === 'pending' && isFollowed(route),
    )
    if (notified.length === 0 || step === 'hold' || alert.status !== 'firing') return
    const known = await listEpisodes(tx, alert.id)
    for (const route of new Set(notified.map((each) => each.route))) {
      const now = clock.now()
      const startedAt = notificationTime(route, alert.weight, now)
      const before = known.find((each) => each.route === String(route.name))
      const episode = withStart(before, { alertId: alert.id, route, startedAt, now })
      if (episode !== before) await saveEpisode(tx, episode)
    }
  }

  async #readShared(tx: Tx, alert: Alert): Promise<SharedFacts> {
    return {
      notified: await listNotifiedStates(tx, alert.id),
      pending: await listPendingOf(tx, alert.id),
      ...(await this.#suppressionOf(tx, alert)),
      damping: this.#options.routing.isDamping ? await findDamping(tx, alert.id) : undefined,
    }
  }

  async #suppressionOf(tx: Tx, alert: Alert): Promise<Pick<SharedFacts, 'silencedBy' | 'inhibitedBy'>> {
    const { suppressions } = this.#options
    return {
      silencedBy: await suppressions.silencedBy(tx, alert),
      inhibitedBy: await suppressions.inhibitedBy(tx, alert),
    }
  }

  /** Decides if no receiver is configured, before any query, or if no route of the alert names one. */
  async #decideForNobody(tx: Tx, occasion: AlertOccasion, alert: Alert): Promise<void> {
    // The first decision has already recorded that.
    if (occasion.kind === 'repeated') return
    const decision = this.#options.routing.receivers.length === 0 ? NO_ROBOT : NO_ROUTE
    await this.#insert(tx, occasion, alert, { receiver: NO_RECEIVER, decision })
  }

  /** The notification with the present state of its alert; undefined if it is not to be sent. */
  async #stillDue(
    tx: Tx,
    receiver: string,
    notification: WaitingNotification,
    alert: Alert,
    known: Pick<SharedFacts, 'notified' | 'damping'>,
  ): Promise<WaitingNotification | undefined> {
    const { id, occasion, content } = notification
    const [target] = targetOf(alert, receiver, this.#options.routing)
    // A pending message does not count as known to the receiver until it is known to have arrived.
    const shared = { ...known, pending: new Map(), ...(await this.#suppressionOf(tx, alert)) }
    const judged = target && (await this.#judge(tx, occasion, alert, target, shared))
    if (judged?.decision.outcome !== 'pending') {
      await this.#decide(tx, receiver, id, judged?.decision ?? SUPERSEDED)
      return undefined
    }
    if (await this.#postponeToHours(tx, notification, judged)) return undefined
    const { weight, source } = alert
    const current = {
      ...notification,
      weight,
      source,
      content: contentOf(content.note, alert, judged.urgency),
    }
    if (!isDeepStrictEqual(current, notification)) await refreshPending(tx, current)
    return current
  }

  /** Postpones it if its hours have not begun: the clock was set back since they were judged. Returns whether it has. */
  async #postponeToHours(
    tx: Tx,
    { id, at, dueAt }: WaitingNotification,
    { route, urgency }: Pick<TargetDecision, 'route' | 'urgency'>,
  ): Promise<boolean> {
    const now = this.#options.clock.now()
    if (dueAt === null || at <= now + CLOCK_DIFFERENCE_MS) return false
    const opensAt = notificationTime(route, urgency, now)
    if (opensAt <= now) return false
    await postponePending(tx, id, { at: now, dueAt: opensAt, ...outsideHours(route, opensAt) })
    return true
  }

  #withAlert(notification: WaitingNotification, alert: Alert): WaitingNotification {
    const { encodeAlert } = this.#options
    return encodeAlert ? { ...notification, alert: encodeAlert(alert) } : notification
  }

  async #insert(
    tx: Tx,
    occasion: AlertOccasion,
    alert: Alert,
    {
      receiver: channel,
      route,
      decision,
      urgency = alert.weight,
      isKnown: known = false,
    }: Pick<TargetDecision, 'receiver' | 'decision'> & Partial<TargetDecision>,
    damping?: Damping,
  ): Promise<void> {
    const { clock, onPending } = this.#options
    const isPending = decision.outcome === 'pending'
    tx.afterCommit(isPending ? () => onPending(channel) : () => this.count(channel, decision.outcome, 1))
    if (await isStoredAlready(tx, channel, occasion.kind, alert, decision.outcome, damping)) return
    const at = clock.now()
    const opensAt = isPending && route ? notificationTime(route, urgency, at) : at
    await insertNotification(tx, {
      id: newId(),
      alertId: alert.id,
      at,
      // For a receiver that does not know the alert yet, a rise that waits for the hours is a new alert.
      occasion: opensAt > at && occasion.kind === 'risen' && !known ? 'raised' : occasion.kind,
      channel,
      ...(opensAt > at && route ? outsideHours(route, opensAt) : decision),
      source: alert.source,
      weight: alert.weight,
      content: isPending ? contentOf(noteOf(occasion, alert.weight), alert, urgency) : null,
      messageId: null,
      dueAt: opensAt > at ? opensAt : null,
      trace: storedTrace(),
    })
  }

  async #decide(tx: Tx, receiver: string, id: string, decision: Decision): Promise<void> {
    await decidePending(tx, id, decision)
    tx.afterCommit(() => this.count(receiver, decision.outcome, 1))
  }

  /** The occasion of a notification if the alert, before its texts changed, was suppressed; undefined if it was not. */
  async #suppressionEnd(tx: Tx, alert: Alert): Promise<SuppressionEnd | undefined> {
    const { suppressions } = this.#options
    if (await suppressions.silencedBy(tx, alert)) return 'silence_ended'
    return (await suppressions.inhibitedBy(tx, alert)) && 'inhibition_ended'
  }

  /** The decision on a notification of a receiver; undefined if it knows the alert as it is. */
  async #judge(
    tx: Tx,
    occasion: AlertOccasion['kind'],
    alert: Alert,
    target: Target,
    { damping, inhibitedBy, pending, silencedBy, notified }: SharedFacts,
  ): Promise<TargetDecision | undefined> {
    const { receiver, route } = target
    const facts = {
      occasion,
      alert,
      textHash: textHashOf(alert),
      route,
      silencedBy,
      inhibitedBy,
      notified: pending.get(receiver)?.sending ?? notified.get(receiver),
      // The reason is only needed for the end of an alert that was not notified.
      heldBack: alert.weight === 0 ? await findHeldBack(tx, alert.id, receiver) : undefined,
      isQuiet: (damping?.quietSince ?? null) !== null,
    }
    const decision = decide(facts)
    return decision && { ...target, decision, urgency: urgencyOf(facts), isKnown: isKnown(facts) }
  }
}

/** The receivers that were notified of the alert, or are being notified, and do not know of its end. */
function receiversToInform({ notified, pending }: SharedFacts): string[] {
  const last = new Map<string, NotifiedState | undefined>(notified)
  for (const [receiver, { sending }] of pending) if (sending) last.set(receiver, sending)
  return [...last].flatMap(([receiver, state]) => (state && state.status !== 'recovered' ? [receiver] : []))
}

function waitingOf({ pending }: SharedFacts, { receiver }: Target) {
  return pending.get(receiver)?.waiting ?? []
}

function isKnown({ notified }: Facts): boolean {
  return notified !== undefined && notified.status !== 'recovered'
}

/** People are notified of the end of an alert as early as they were of the alert. */
function urgencyOf({ alert, notified }: Facts): AlertWeight {
  return alert.weight === 0 && notified ? notified.weight : alert.weight
}

const NO_ROBOT: Decision = {
  outcome: 'disabled',
  reason: 'No robot is configured (alerts.robot.url).',
  cause: { code: 'no_robot', values: {} },
}

const NO_ROUTE: Decision = {
  outcome: 'disabled',
  reason: 'No route of the alert names a receiver (alerts.routes, alerts.default_receivers).',
  cause: { code: 'no_receiver', values: {} },
}

function outsideHours({ name }: Target['route'], opensAt: number): Decision {
  const at = toRfc3339(opensAt)
  return {
    outcome: 'pending',
    reason: `Outside of the hours of the route ${name}: told at ${at}.`,
    cause: { code: 'outside_hours', values: { route: String(name), at } },
  }
}

type SuppressionEnd = 'silence_ended' | 'inhibition_ended'

/** The occasion of the notification that comes after one with this outcome. */
const END_OF: Readonly<Partial<Record<Outcome, SuppressionEnd>>> = {
  silenced: 'silence_ended',
  inhibited: 'inhibition_ended',
}

/**
 * Whether a decision like this one is stored already. A frozen or quiet alert may change very often: a freeze, and a quiet
 * time, store one decision of each kind; the metric counts all of them.
 */
async function isStoredAlready(
  tx: Tx,
  channel: string,
  occasion: AlertOccasion['kind'],
  { id, status }: Alert,
  outcome: Outcome,
  damping: Damping | undefined,
): Promise<boolean> {
  if (outcome === 'damped')
    return (await findDecisionInQuiet(tx, id, channel, occasion, damping?.quietSince ?? 0)) !== undefined
  if (status !== 'frozen' || occasion === 'frozen') return false
  return (await findDecisionInFreeze(tx, id, channel, occasion, outcome)) !== undefined
}

function contentOf(note: string | null, alert: Alert, urgency: AlertWeight): NotificationContent {
  const { title, alarmId, serverAddr, body, runbookUrl, weight } = alert
  const excerpt = clip(body, EXCERPT_CHARACTERS)
  const optional = {
    ...(runbookUrl !== null && { runbookUrl }),
    ...(weight === 0 && urgency > 0 && { toldWeight: urgency }),
  }
  return { title, alarmId, serverAddr, excerpt, note, textHash: textHashOf(alert), ...optional }
}

function noteOf(occasion: AlertOccasion, weight: AlertWeight): string | null {
  const state = weight === 0 ? 'recovered' : severityOf(weight)
  if ('changes' in occasion) return dampingNote(occasion, state)
  if (!('swings' in occasion)) return null
  const { swings, reports } = occasion
  return `${swingsText(swings, reports)}; now ${state}`
}

function dampingNote(
  { kind, changes }: { kind: 'damped' | 'undamped'; changes: number },
  state: string,
): string {
  const often = `${formatCount(changes, 'change')}; now ${state}`
  return kind === 'damped' ? `${often}; no more messages until 30 minutes pass without a change` : often
}
