import type { AlertChange } from './model.ts'

/** The event of each change (docs/specification.md, Events); a repeated report emits none. */
export const ALERT_EVENTS = {
  raised: 'alert.raised',
  recovered: 'alert.recovered',
} as const satisfies Partial<Record<AlertChange, string>>
