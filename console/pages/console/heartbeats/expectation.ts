import { localSeconds } from '../../../i18n/local.ts'
import type { Heartbeat } from './model.ts'

/** When a beat is expected: `1 day`, or `0 2 * * * (Europe/Berlin)`. */
export function expectation({
  every_seconds,
  schedule,
  time_zone,
}: Pick<Heartbeat, 'every_seconds' | 'schedule' | 'time_zone'>): string {
  return every_seconds === null ? `${schedule} (${time_zone ?? 'UTC'})` : localSeconds(every_seconds)
}
