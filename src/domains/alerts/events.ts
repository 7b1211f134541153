/** The events of alerts (docs/specification.md, Events); a repeated report emits none. */
export const ALERT_EVENTS = {
  raised: 'alert.raised',
  acknowledged: 'alert.acknowledged',
  recovered: 'alert.recovered',
  frozen: 'alert.frozen',
  unfrozen: 'alert.unfrozen',
} as const

export type AlertEvent = keyof typeof ALERT_EVENTS
