import type { Alert } from './model.ts'

/** An alert whose `alarm_id` ends in this inhibits the one without it (docs/specification.md, Alerts). */
const ENDING = '.critical'

/** The `alarm_id` of the alert that would inhibit this one. */
export function inhibitorIdOf({ alarmId }: Pick<Alert, 'alarmId'>): string | undefined {
  return alarmId === null ? undefined : alarmId + ENDING
}

/** The `alarm_id` of the alert that this one inhibits while it fires. */
export function inhibitedIdOf({ alarmId }: Pick<Alert, 'alarmId'>): string | undefined {
  return alarmId?.endsWith(ENDING) ? alarmId.slice(0, -ENDING.length) : undefined
}

/** Which of the alerts inhibits this one: it is of the same source, and has not recovered. */
export function inhibitorOf<T extends Pick<Alert, 'alarmId' | 'source' | 'weight'>>(
  alert: Pick<Alert, 'alarmId' | 'source'>,
  others: readonly T[],
): T | undefined {
  const id = inhibitorIdOf(alert)
  return others.find((other) => other.weight > 0 && other.alarmId === id && other.source === alert.source)
}
