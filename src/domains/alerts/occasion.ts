import type { Tx } from '../../store/store.ts'
import type { Alert } from './model.ts'

/** Occasions without details. */
export const PLAIN_OCCASIONS = [
  /** A new alert, or one that fires again after its recovery. */
  'raised',
  /** Its weight has increased. */
  'risen',
  'recovered',
  /** It fires again, because its acknowledgement has lapsed. */
  'acknowledgement_lapsed',
  /**
   * A silence or an inhibition has ended: a notification is due only if the alert is worse than the receiver knows, or has
   * other texts.
   */
  'silence_ended',
  'inhibition_ended',
  /** It still fires, and its route or its declaration asks for a repeated notification. */
  'repeated',
  /** Nobody has acknowledged it: further receivers are notified. */
  'escalated',
] as const

/** Occasions of the freeze rule, with the swings and the reports since the first of the swings. */
export const FREEZE_OCCASIONS = ['frozen', 'unfrozen'] as const

/** Occasions of damping, with how often the alert has changed. */
export const DAMPING_OCCASIONS = ['damped', 'undamped'] as const

/** Why people may have to be notified of an alert. A repeated report is no occasion. */
export type AlertOccasion =
  | { readonly kind: (typeof PLAIN_OCCASIONS)[number] }
  | {
      readonly kind: (typeof FREEZE_OCCASIONS)[number]
      readonly swings: number
      readonly reports: number
    }
  | { readonly kind: (typeof DAMPING_OCCASIONS)[number]; readonly changes: number }

/** Decides about the notifications of alerts. */
export interface AlertNotifications {
  /**
   * Called in the transaction of the change, which may run twice, with the alert as it is after the change. It is also
   * called for rises and recoveries of acknowledged and frozen alerts, and decides whether they are sent.
   */
  notify(tx: Tx, occasion: AlertOccasion, alert: Alert): Promise<void>
  /**
   * Called when the texts of a firing alert have changed: a silence or an inhibition may not match it any more, and another
   * route may.
   */
  review(tx: Tx, before: Alert, alert: Alert): Promise<void>
  /** Called when an alert was acknowledged: people know it as it is now, and are notified of a rise from there. */
  acknowledged(tx: Tx, alert: Alert): Promise<void>
}
