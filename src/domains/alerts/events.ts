import type { AlertChange } from './model.ts'
import type { AlertWire } from './schemas.ts'

/** The event that tells of a change (contract, section 4: Subjects); a repetition is told to nobody. */
export const ALERT_EVENTS = {
  raised: 'alert.raised',
  recovered: 'alert.recovered',
} as const satisfies Partial<Record<AlertChange, string>>

export interface AlertEvent {
  readonly type: (typeof ALERT_EVENTS)[keyof typeof ALERT_EVENTS]
  /** The alert's id. */
  readonly subject: string
  readonly data: AlertWire
}
