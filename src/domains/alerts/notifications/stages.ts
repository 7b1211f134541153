import { severityOf, type Alert, type AlertWeight } from '../model.ts'
import type { Decided, OccasionKind } from './model.ts'

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

/** What the stages decide on. */
export interface Facts {
  readonly occasion: OccasionKind
  /** Its weight at the occasion, and its status now. */
  readonly alert: Pick<Alert, 'weight' | 'status'>
  /** Whether there is a channel. */
  readonly isEnabled: boolean
  /** Below this weight an alert is not pushed. */
  readonly minWeight: AlertWeight
  readonly silencedBy: SilencedBy | undefined
  readonly inhibitedBy: InhibitedBy | undefined
  /**
   * The decision on the alert before this one, since its last pushed end: the decision to push it, else the latest one;
   * undefined if there is none.
   */
  readonly earlier: Decided | undefined
}

/** Suppresses a notification with an outcome and a reason, or passes it on. */
type Stage = (facts: Facts) => Decided | undefined

const OF_FREEZE: ReadonlySet<OccasionKind> = new Set(['frozen', 'unfrozen'])
const OF_END: ReadonlySet<OccasionKind> = new Set(['silence_ended', 'inhibition_ended'])

const isPushed = (decided: Decided | undefined) =>
  decided !== undefined && ['pending', 'sent', 'bundled'].includes(decided.outcome)

const disabled: Stage = ({ isEnabled }) =>
  isEnabled ? undefined : { outcome: 'disabled', reason: 'No robot is configured (alerts.robot.url).' }

/** Whether the notification tells that the alert is over: it has recovered, or has recovered by the end of its freeze. */
const isOver = ({ occasion, alert }: Facts) =>
  occasion === 'recovered' || (occasion === 'unfrozen' && alert.weight === 0)

/** The end of an alert that was never pushed has the outcome for which the alert was not pushed. */
const neverPushed: Stage = (facts) => {
  const { earlier } = facts
  if (!isOver(facts) || isPushed(earlier)) return undefined
  const { outcome = 'disabled', reason = null } = earlier ?? {}
  return { outcome, reason: `The alert was never pushed.${reason === null ? '' : ` ${reason}`}` }
}

const belowLevel: Stage = ({ occasion, alert, minWeight }) => {
  if (occasion === 'recovered' || OF_FREEZE.has(occasion) || alert.weight >= minWeight) return undefined
  const reason = `${severityOf(alert.weight)} is below ${severityOf(minWeight)} (alerts.robot.min_severity).`
  return { outcome: 'below_level', reason }
}

const inhibited: Stage = (facts) => {
  const { inhibitedBy } = facts
  return isOver(facts) || !inhibitedBy
    ? undefined
    : { outcome: 'inhibited', reason: `Inhibited by the alert ${inhibitedBy.id} (${inhibitedBy.alarmId}).` }
}

const silenced: Stage = (facts) => {
  const { silencedBy } = facts
  return isOver(facts) || !silencedBy
    ? undefined
    : { outcome: 'silenced', reason: `Silenced by ${silencedBy.id}: ${silencedBy.reason}` }
}

const acknowledged: Stage = (facts) =>
  facts.alert.status === 'acknowledged' && !isOver(facts)
    ? { outcome: 'acknowledged', reason: 'The alert is acknowledged.' }
    : undefined

const frozen: Stage = ({ occasion, alert }) =>
  alert.status === 'frozen' && !OF_FREEZE.has(occasion)
    ? { outcome: 'frozen', reason: 'The alert is frozen; further changes like this one are not listed.' }
    : undefined

/** In the order in which a notification passes them; the first one that suppresses it decides. */
export const STAGES: readonly Stage[] = [
  disabled,
  neverPushed,
  belowLevel,
  inhibited,
  silenced,
  acknowledged,
  frozen,
]

/** The decision on a notification; `pending` if no stage suppresses it, undefined if none is due. */
export function decide(facts: Facts): Decided | undefined {
  return isOccasion(facts) ? decideDue(facts) : undefined
}

/** The same for a notification that is due, or was due when it became pending. */
export function decideDue(facts: Facts): Decided {
  for (const stage of STAGES) {
    const decided = stage(facts)
    if (decided) return decided
  }
  return { outcome: 'pending', reason: null }
}

/** The end of a silence or an inhibition matters only to an alert that fires and was never pushed. */
function isOccasion({ occasion, alert, earlier }: Facts): boolean {
  return !OF_END.has(occasion) || (alert.weight > 0 && !isPushed(earlier))
}
