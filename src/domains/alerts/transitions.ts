import type { SentenceCause } from '../../kernel/errors.ts'
import { formatCount } from '../../kernel/text.ts'
import { HOUR, isDueAt } from '../../kernel/time.ts'
import {
  type AlertEvent,
  levelOf,
  NOTICE_MS,
  RECOVERED,
  severityOf,
  weightOf,
  type Alert,
  type AlertStatus,
  type AlertWeight,
  type Freeze,
  type Report,
  type Swing,
} from './model.ts'
import type { AlertOccasion } from './occasion.ts'

/** When something happens to an alert, and who does it. */
export interface ChangeOrigin {
  readonly at: number
  readonly actor: string
}

/** The actor of changes that are due at a certain time. */
export const WORKER = 'worker'

/** What a note of the platform says. */
export const NOTE_CAUSES = ['swings', 'acknowledgement_lapsed'] as const
export type NoteCause = SentenceCause<(typeof NOTE_CAUSES)[number]>

/** One line of the history of an alert; `from` is null for its first report. */
export interface HistoryEntry extends ChangeOrigin {
  readonly from: AlertStatus | null
  readonly to: AlertStatus
  readonly weight: AlertWeight
  readonly note: string | null
  /** Why there is a note, unless a person has written it. */
  readonly cause: NoteCause | null
}

/** The changes of alerts: the event of each, and its log line. */
export const ALERT_CHANGES = {
  raised: { event: 'raised', message: 'alert raised' },
  risen: { event: 'raised', message: 'alert raised to a higher weight' },
  acknowledged: { event: 'acknowledged', message: 'alert acknowledged' },
  lapsed: { event: 'raised', message: 'the acknowledgement of an alert has lapsed' },
  recovered: { event: 'recovered', message: 'alert recovered' },
  frozen: { event: 'frozen', message: 'alert frozen' },
  unfrozen: { event: 'unfrozen', message: 'alert unfrozen' },
} as const satisfies Readonly<Record<string, { readonly event: AlertEvent; readonly message: string }>>

/** A line after the first one. */
export interface ChangeEntry extends HistoryEntry {
  readonly from: AlertStatus
}

/** What a change has done to an alert; `repeated` changes only its count, its texts or a lower weight. */
export type AlertChange = keyof typeof ALERT_CHANGES | 'repeated'

/** The result of a report, an action of a user or the passing of time: the changed alert, and what has to be recorded. */
export interface AlertTransition {
  readonly alert: Alert
  readonly change: AlertChange
  readonly events: readonly AlertEvent[]
  /** Null if nothing changes that the history shows; also for the first report, which the alert itself records. */
  readonly entry: ChangeEntry | null
  /** Null if no notification is due. */
  readonly occasion: AlertOccasion | null
}

/** An alert is frozen until an hour has passed without a swing (docs/specification.md, Alerts). */
export const FREEZE_MS = HOUR
const WINDOW_MS = HOUR
const SWINGS_TO_FREEZE = 4

/** Applies the first report of an alert. */
export function applyFirstReport(report: Report, id: string, origin: ChangeOrigin): AlertTransition {
  const before = unreportedAlert(report, id, origin)
  const transition = enter(before, withReport(before, report, origin.at), origin)
  const alert = { ...transition.alert, firstWeight: transition.alert.weight }
  const change = alert.weight === 0 ? 'recovered' : 'raised'
  return { ...transition, alert, change, events: [change], entry: null }
}

/** Applies a further report, after the changes that were due before it. */
export function applyFurtherReport(alert: Alert, report: Report, origin: ChangeOrigin): AlertTransition[] {
  return afterTime(alert, origin.at, (current) => [
    enter(current, withReport(current, report, origin.at), origin),
  ])
}

/** Applies an acknowledgement. Returns no transition unless the alert fires. */
export function applyAcknowledgement(
  alert: Alert,
  until: number,
  comment: string | null,
  origin: ChangeOrigin,
): AlertTransition[] {
  return afterTime(alert, origin.at, (current) => {
    if (current.status !== 'firing') return []
    const memory = { acknowledgedWeight: current.weight, acknowledgedUntil: until }
    const after: Alert = { ...current, ...memory, status: 'acknowledged' }
    return [transitionOf('acknowledged', current, after, origin, { note: comment })]
  })
}

/** Applies a recovery by a user. Returns no transition if the alert is recovered already. */
export function applyRecovery(alert: Alert, origin: ChangeOrigin): AlertTransition[] {
  return afterTime(alert, origin.at, (current) => {
    if (current.status === 'recovered') return []
    if (current.status === 'frozen') return [recoverFrozen(current, origin)]
    const recovered = withRecovery(current, origin.at)
    if (!isSwing(current, recovered)) return [enter(current, recovered, origin)]
    // Even the fourth swing does not freeze the alert: the user has declared that it is over.
    const swings = addSwing(current, origin.at)
    const after = withStatus(
      { ...recovered, swings: freezeFor(swings, origin.at) ? [] : swings },
      'recovered',
    )
    return [transitionOf('recovered', current, after, origin, { occasion: { kind: 'recovered' } })]
  })
}

/** Applies the end of a freeze by a user. Returns no transition if the alert is not frozen. */
export function applyUnfreeze(alert: Alert, origin: ChangeOrigin): AlertTransition[] {
  return afterTime(alert, origin.at, (current) =>
    current.status === 'frozen' ? [unfreeze(current, origin)] : [],
  )
}

/**
 * The alert with all due times that a clock has written before it was set back as due now: such times are further away than
 * a due time can be. The time of expiry stays: the reporter has chosen it.
 */
export function withFarTimesDue(alert: Alert, at: number, acknowledgeForMs: number): Alert {
  const { acknowledgedUntil, repeatAt, repeatEveryMs, freeze } = alert
  return {
    ...alert,
    acknowledgedUntil: nearTime(acknowledgedUntil, at, acknowledgeForMs),
    repeatAt: nearTime(repeatAt, at, repeatEveryMs ?? 0),
    freeze: freeze && { ...freeze, until: nearTime(freeze.until, at, FREEZE_MS) },
  }
}

function nearTime<T extends number | null>(time: T, at: number, longestMs: number): T | number {
  return time !== null && isDueAt(time, at, longestMs) ? Math.min(time, at) : time
}

/** Applies the changes that are due at this time. Returns no transition if nothing is due. */
export function applyTime(alert: Alert, at: number): AlertTransition[] {
  const origin = { at, actor: WORKER }
  if (alert.weight > 0 && isDue(alert.expiresAt, at)) return [enter(alert, withRecovery(alert, at), origin)]
  return afterTime(alert, at, (current) =>
    isDue(current.repeatAt, at) ? [repetitionOf(withRepetition(current, at), { kind: 'repeated' })] : [],
  )
}

/**
 * Ends a freeze or an acknowledgement whose time is over, and then applies what happens next. An expiry is left out: a
 * report that comes late is still a report of the alert.
 */
function afterTime(alert: Alert, at: number, next: (current: Alert) => AlertTransition[]): AlertTransition[] {
  const origin = { at, actor: WORKER }
  if (alert.status === 'frozen' && isDue(alert.freeze?.until, at)) return chain(unfreeze(alert, origin), next)
  if (alert.status === 'acknowledged' && isDue(alert.acknowledgedUntil, at))
    return chain(lapse(alert, origin), next)
  return next(alert)
}

function chain(first: AlertTransition, next: (current: Alert) => AlertTransition[]): AlertTransition[] {
  return [first, ...next(first.alert)]
}

function isDue(time: number | null | undefined, at: number): boolean {
  return typeof time === 'number' && time <= at
}

/** Changes the status of the alert to that of its new weight; `next` has the new weight and the old status. */
function enter(before: Alert, next: Alert, origin: ChangeOrigin): AlertTransition {
  const occasion = occasionOf(before, next)
  const swings = isSwing(before, next) ? addSwing(before, origin.at) : before.swings
  if (before.status === 'frozen')
    return repetitionOf(isSwing(before, next) ? withLongerFreeze(next, origin.at) : next, occasion)
  const freeze = swings === before.swings ? undefined : freezeFor(swings, origin.at)
  if (freeze) return freezeNow(before, { ...next, freeze, swings: [] }, origin)
  const after = withStatus({ ...next, swings }, statusAfter(before, next.weight))
  const change = changeOf(before, after)
  return change === 'repeated'
    ? repetitionOf(after.repeatAt === null ? withRepetition(after, origin.at) : after, occasion)
    : transitionOf(change, before, after, origin, { occasion })
}

/**
 * Whether a change of the weight is a swing: a direct change between recovered and CRITICAL. The first CRITICAL report of
 * an alert is not a swing.
 */
function isSwing(before: Alert, after: Alert): boolean {
  if (before.weight === 6) return after.weight === 0
  return before.weight === 0 && after.weight === 6 && before.wasCritical
}

/** The swings of the last hour and a new one. A swing that is exactly an hour old does not count. */
function addSwing({ swings, reports }: Alert, at: number): readonly Swing[] {
  // One report less: the one that led to the state before the swing is a part of the freeze.
  const swing = { at, reportsBefore: Math.max(reports - 1, 0) }
  return [...swings.filter((each) => each.at > at - WINDOW_MS), swing]
}

/** The freeze that these swings of the last hour cause; undefined if there are too few. */
function freezeFor(swings: readonly Swing[], at: number): Freeze | undefined {
  const [earliest] = swings
  if (!earliest || swings.length < SWINGS_TO_FREEZE) return undefined
  return { until: at + FREEZE_MS, swings: swings.length, reportsBefore: earliest.reportsBefore }
}

/** The alert after one more swing during its freeze. */
function withLongerFreeze(alert: Alert, at: number): Alert {
  const { freeze } = alert
  return { ...alert, freeze: freeze && { ...freeze, until: at + FREEZE_MS, swings: freeze.swings + 1 } }
}

function freezeNow(before: Alert, next: Alert, origin: ChangeOrigin): AlertTransition {
  const after = withStatus(next, 'frozen')
  return transitionOf('frozen', before, after, origin, freezeDetails('frozen', after))
}

/** Gives the alert the state of its last report. */
function unfreeze(before: Alert, origin: ChangeOrigin): AlertTransition {
  const status = before.weight === 0 ? 'recovered' : 'firing'
  const after = withStatus({ ...before, freeze: null }, status)
  return transitionOf('unfrozen', before, after, origin, freezeDetails('unfrozen', before))
}

function recoverFrozen(before: Alert, origin: ChangeOrigin): AlertTransition {
  const after = withStatus({ ...withRecovery(before, origin.at), freeze: null }, 'recovered')
  const transition = transitionOf('recovered', before, after, origin, freezeDetails('unfrozen', before))
  return { ...transition, events: ['unfrozen', 'recovered'] }
}

function freezeDetails(kind: 'frozen' | 'unfrozen', { freeze, reports: total }: Alert) {
  const swings = freeze?.swings ?? 0
  const reports = total - (freeze?.reportsBefore ?? 0)
  return {
    note: swingsText(swings, reports),
    cause: { code: 'swings', values: { swings, reports } },
    occasion: { kind, swings, reports },
  } as const
}

/** The swings of a freeze, and the reports since the first of them, in words. */
export function swingsText(swings: number, reports: number): string {
  return `${formatCount(swings, 'swing')} in ${formatCount(reports, 'report')}`
}

function lapse(before: Alert, origin: ChangeOrigin): AlertTransition {
  return transitionOf('lapsed', before, withStatus(before, 'firing'), origin, {
    note: 'the acknowledgement has lapsed',
    cause: { code: 'acknowledgement_lapsed', values: {} },
    occasion: { kind: 'acknowledgement_lapsed' },
  })
}

type ChangeDetails = Partial<Pick<ChangeEntry, 'note' | 'cause'> & Pick<AlertTransition, 'occasion'>>

function transitionOf(
  change: Exclude<AlertChange, 'repeated'>,
  before: Alert,
  changed: Alert,
  origin: ChangeOrigin,
  { note = null, cause = null, occasion = null }: ChangeDetails,
): AlertTransition {
  const alert = withRepetition(changed, origin.at)
  const { weight, status: to } = alert
  const entry = { ...origin, from: before.status, to, weight, note, cause }
  return { alert, change, events: [ALERT_CHANGES[change].event], entry, occasion }
}

function repetitionOf(alert: Alert, occasion: AlertOccasion | null): AlertTransition {
  return { alert, change: 'repeated', events: [], entry: null, occasion }
}

function statusAfter(before: Alert, weight: AlertWeight): AlertStatus {
  if (weight === 0) return 'recovered'
  // The acknowledgement covers only the weight that the alert had at that time.
  return before.status === 'acknowledged' && weight <= (before.acknowledgedWeight ?? 0)
    ? 'acknowledged'
    : 'firing'
}

function changeOf(before: Alert, after: Alert): AlertChange {
  if (after.status === 'acknowledged') return 'repeated'
  if (after.status === 'recovered') return before.status === 'recovered' ? 'repeated' : 'recovered'
  if (before.status === 'recovered') return 'raised'
  return before.status === 'acknowledged' || after.weight > before.weight ? 'risen' : 'repeated'
}

function occasionOf(before: Alert, after: Alert): AlertOccasion | null {
  if (after.weight > before.weight) return { kind: before.weight === 0 ? 'raised' : 'risen' }
  return after.weight === 0 && before.weight > 0 ? { kind: 'recovered' } : null
}

/** A change of the status also ends the acknowledgement. */
function withStatus(alert: Alert, status: AlertStatus): Alert {
  if (status === 'acknowledged') return { ...alert, status }
  return { ...alert, status, acknowledgedWeight: null, acknowledgedUntil: null }
}

/** Sets the time at which a firing alert is notified again; other alerts have none. */
function withRepetition(alert: Alert, at: number): Alert {
  const { status, repeatEveryMs } = alert
  return { ...alert, repeatAt: status === 'firing' && repeatEveryMs !== null ? at + repeatEveryMs : null }
}

function withRecovery(alert: Alert, at: number): Alert {
  const memory = { wasHigh: false, expiresAt: null }
  return { ...alert, ...RECOVERED, ...memory, recoveredAt: alert.recoveredAt ?? at }
}

/** The alert with the texts, the level and the weight of a report, and an unchanged status. */
function withReport(alert: Alert, report: Report, at: number): Alert {
  const { source, title, body, serverAddr } = report
  const weight = weightOf(report)
  const labels = report.labels ?? alert.labels
  const texts = { source, title, body, serverAddr, labels }
  const reported = { ...alert, ...texts, reports: alert.reports + 1, lastAt: at }
  if (weight === 0) return withRecovery(reported, at)
  const isHigh = (report.level ?? severityOf(weight)) === 'HIGH'
  return {
    ...reported,
    weight,
    level: levelOf(report, weight, alert.wasHigh && weight <= alert.weight),
    count: alert.count + 1,
    recoveredAt: null,
    wasHigh: isHigh || (alert.wasHigh && weight >= 5),
    wasCritical: alert.wasCritical || weight === 6,
    expiresAt: report.expiresAt ?? (severityOf(weight) === 'INFO' ? at + NOTICE_MS : null),
    groupId: report.groupId ?? null,
    repeatEveryMs: report.repeatEveryMs ?? null,
    runbookUrl: report.runbookUrl ?? null,
    startsAt: startOf(alert, report.startsAt ?? at),
    generatorUrl: report.generatorUrl ?? null,
  }
}

/** While it fires, the earliest start counts, as in an Alertmanager. */
function startOf({ weight, startsAt, firstAt }: Alert, reportedStart: number): number {
  return weight > 0 ? Math.min(startsAt ?? firstAt, reportedStart) : reportedStart
}

function unreportedAlert(report: Report, id: string, { at, actor }: ChangeOrigin): Alert {
  const { alarmId, source, title, body, serverAddr } = report
  return {
    id,
    alarmId,
    source,
    title,
    body,
    ...RECOVERED,
    serverAddr,
    status: 'recovered',
    count: 0,
    firstAt: at,
    lastAt: at,
    recoveredAt: null,
    runbookUrl: report.runbookUrl ?? null,
    startsAt: report.startsAt ?? at,
    generatorUrl: report.generatorUrl ?? null,
    version: 1,
    createdBy: actor,
    firstWeight: RECOVERED.weight,
    reports: 0,
    wasCritical: false,
    wasHigh: false,
    acknowledgedWeight: null,
    acknowledgedUntil: null,
    expiresAt: null,
    groupId: null,
    labels: null,
    repeatEveryMs: null,
    repeatAt: null,
    swings: [],
    freeze: null,
  }
}
