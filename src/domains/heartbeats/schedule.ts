import { Cron } from 'croner'
import { invalidField } from '../../kernel/errors.ts'
import { isTimeZone } from '../../kernel/time.ts'

/** When the next run of a schedule begins, in epoch milliseconds: after `at`, by the clocks of the zone. */
export function nextRun(schedule: string, timeZone: string, at: number): number {
  const cron = new Cron(schedule, { timezone: timeZone, mode: '5-part', paused: true })
  const next = cron.nextRun(new Date(at))
  if (!next) throw new RangeError(`The schedule ${schedule} has no run after ${at}.`)
  return next.getTime()
}

/** Throws `validation_failed` for a text that is no schedule of five cron fields, or one that never comes. */
export function requireSchedule(schedule: string, timeZone: string, now: number): void {
  if (!isTimeZone(timeZone)) throw invalidField('time_zone', 'not_a_time_zone')
  try {
    nextRun(schedule, timeZone, now)
  } catch {
    throw invalidField('schedule', 'not_a_schedule')
  }
}
