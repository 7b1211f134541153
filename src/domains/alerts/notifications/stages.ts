import { severityOf, type Alert } from '../model.ts'
import type { Decision, DecisionCause, OccasionKind, NotifiedState } from './model.ts'
import type { AlertRoute } from './routing.ts'

/** A silence that matches the alert. */
export interface SilencedBy {
  readonly id: string
  readonly reason: string
}

/** A firing alert that inhibits another one. */
export interface InhibitedBy {
  readonly id: string
  readonly alarmId: string
}

/** The facts by which the stages decide. */
export interface Facts {
  readonly occasion: OccasionKind
  /** Its weight at the occasion, and its status now. */
  readonly alert: Pick<Alert, 'weight' | 'status'>
  /** The hash of the present texts of the alert. */
  readonly textHash: string
  /** The route by whose rules the receiver is notified. */
  readonly route: Pick<AlertRoute, 'name' | 'minWeight'>
  /** Whether the alert is quiet, because people were notified of it too often. */
  readonly isQuiet?: boolean
  readonly silencedBy: SilencedBy | undefined
  readonly inhibitedBy: InhibitedBy | undefined
  /** The last notification of the receiver, sent or being sent; undefined without one. */
  readonly notified: NotifiedState | undefined
  /** The last decision against a notification of the receiver. */
  readonly heldBack: Decision | undefined
}

/** Suppresses a notification with an outcome and a reason, or passes it on. */
type Stage = (facts: Facts) => Decision | undefined

const FREEZE_OCCASIONS: ReadonlySet<OccasionKind> = new Set(['frozen', 'unfrozen'])
const DAMPING_OCCASIONS: ReadonlySet<OccasionKind> = new Set(['damped', 'undamped'])

/** Occasions at which the alert itself does not change. */
export const OCCASIONS_WITHOUT_CHANGE: ReadonlySet<OccasionKind> = new Set([
  'silence_ended',
  'inhibition_ended',
  'repeated',
  'escalated',
])

/** Occasions that a freeze does not hold back. */
export function isFreezeOccasion(occasion: OccasionKind): boolean {
  return FREEZE_OCCASIONS.has(occasion)
}

/**
 * A lower weight is no reason for a notification. An alert that fires after an end or a freeze that was notified always is.
 */
const isWorse = ({ alert, notified }: Facts) =>
  alert.weight > 0 &&
  (notified === undefined || notified.status !== 'firing' || alert.weight > notified.weight)

/** Whether the alert is worse, or its texts differ: texts change during a suppression without a notification. */
const isOther = (facts: Facts) => isWorse(facts) || hasOtherTexts(facts)

const hasOtherTexts = ({ alert, textHash, notified }: Facts) =>
  alert.weight > 0 && typeof notified?.textHash === 'string' && notified.textHash !== textHash

const always = () => true

/** Whether the alert has recovered, and the receiver knows that it fires. */
const isOverFor = ({ alert, notified }: Facts) => alert.weight === 0 && notified?.status === 'firing'

/** Whether the alert is, at each occasion, worse than or other than the state that the receiver knows. */
const IS_NEWS: Readonly<Record<OccasionKind, (facts: Facts) => boolean>> = {
  raised: isWorse,
  risen: isWorse,
  silence_ended: isOther,
  inhibition_ended: isOther,
  // People have waited for it: they are notified even if nothing differs.
  acknowledgement_lapsed: always,
  // The alert needs a person, who may have forgotten it.
  repeated: always,
  // Those who know it already are not notified again.
  escalated: isWorse,
  // The notification says how often the alert has changed.
  damped: always,
  undamped: (facts) => facts.notified?.status === 'damped' || isWorse(facts) || isOverFor(facts),
  // The notification says how often the alert has swung.
  frozen: always,
  unfrozen: always,
  // A later stage holds back the end of an alert that was not notified, with a reason.
  recovered: always,
}

const heldBackBy = (
  code: 'below_level' | 'inhibited' | 'silenced' | 'acknowledged' | 'frozen' | 'damped',
  reason: string,
  values: DecisionCause['values'] = {},
): Decision => ({ outcome: code, reason, cause: { code, values } })

/** Whether the notification says that the alert is over: it has recovered, or has recovered by the end of its freeze. */
const isOver = ({ occasion, alert }: Facts) =>
  occasion === 'recovered' || ((occasion === 'unfrozen' || occasion === 'undamped') && alert.weight === 0)

/** The end of an alert that was never pushed has the outcome for which the alert was not pushed. */
const neverPushed: Stage = (facts) => {
  const { alert, notified, heldBack } = facts
  if (!isOver(facts) || alert.status === 'frozen' || (notified && notified.status !== 'recovered'))
    return undefined
  const { outcome = 'disabled', reason = null, cause = null } = heldBack ?? {}
  return {
    outcome,
    reason: `The alert was never pushed.${reason === null ? '' : ` ${reason}`}`,
    cause: { code: 'never_pushed', values: cause ? { because: cause.code, ...cause.values } : {} },
  }
}

const belowLevel: Stage = ({ occasion, alert, route, notified }) => {
  const isExempt =
    occasion === 'recovered' ||
    FREEZE_OCCASIONS.has(occasion) ||
    (DAMPING_OCCASIONS.has(occasion) && notified !== undefined)
  if (isExempt || alert.weight >= route.minWeight) return undefined
  const [severity, least] = [severityOf(alert.weight), severityOf(route.minWeight)]
  const setting =
    route.name === 'default' ? 'alerts.robot.min_severity' : `min_severity of the route ${route.name}`
  return heldBackBy('below_level', `${severity} is below ${least} (${setting}).`, { severity, least })
}

const inhibited: Stage = (facts) => {
  const { inhibitedBy } = facts
  if (isOver(facts) || !inhibitedBy) return undefined
  const { id, alarmId } = inhibitedBy
  return heldBackBy('inhibited', `Inhibited by the alert ${id} (${alarmId}).`, {
    alert: id,
    alarm_id: alarmId,
  })
}

const silenced: Stage = (facts) => {
  const { silencedBy } = facts
  if (isOver(facts) || !silencedBy) return undefined
  const { id, reason } = silencedBy
  return heldBackBy('silenced', `Silenced by ${id}: ${reason}`, { silence: id, reason })
}

const acknowledged: Stage = (facts) =>
  facts.alert.status === 'acknowledged' && !isOver(facts)
    ? heldBackBy('acknowledged', 'The alert is acknowledged.')
    : undefined

const frozen: Stage = ({ occasion, alert }) =>
  alert.status === 'frozen' && !FREEZE_OCCASIONS.has(occasion)
    ? heldBackBy('frozen', 'The alert is frozen; further changes like this one are not listed.')
    : undefined

/** The decision on a change of a quiet alert. */
export const DAMPED: Decision = heldBackBy(
  'damped',
  'The alert changes too often; further changes like this one are not listed.',
)

const damped: Stage = ({ occasion, alert, isQuiet }) =>
  isQuiet === true &&
  alert.status !== 'frozen' &&
  !DAMPING_OCCASIONS.has(occasion) &&
  !FREEZE_OCCASIONS.has(occasion)
    ? DAMPED
    : undefined

/** The stages in the order in which a notification passes them; the first one that suppresses it decides. */
export const STAGES: readonly Stage[] = [
  neverPushed,
  belowLevel,
  inhibited,
  silenced,
  acknowledged,
  frozen,
  damped,
]

/**
 * The decision on a notification of a receiver: `pending` if it is to be sent, another outcome with the reason why not,
 * undefined if the receiver knows the alert as it is.
 */
export function decide(facts: Facts): Decision | undefined {
  if (!IS_NEWS[facts.occasion](facts)) return undefined
  for (const stage of STAGES) {
    const decision = stage(facts)
    if (decision) return decision
  }
  return { outcome: 'pending', reason: null, cause: null }
}
