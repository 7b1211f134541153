import { MINUTE } from '../../../src/kernel/time.ts'

/** When the routine may run, in local time. */
export interface NightWindow {
  /** `HH:MM` */
  readonly start: string
  /** `HH:MM`, later than the start. */
  readonly end: string
  readonly retryEveryMs: number
}

/** Minutes since midnight. */
type TimeOfDay = number

const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES
// When clocks are put forward, some local times do not exist, for an hour or less. The rest keeps it apart from a retry.
const SECOND_CALL_AFTER = HOUR_MINUTES + 5

/**
 * The times of `run --scheduled`: the start of the window, and a second call for the nights that have no such time. It
 * does nothing on a date that had the first call.
 */
export function runTimes({ start }: NightWindow): readonly [TimeOfDay, TimeOfDay] {
  return [minuteOf(start), minuteOf(start, SECOND_CALL_AFTER)]
}

/** The times of `retry --once`: each retry, and the end of the window, where a lost night is escalated. */
export function retryTimes({ start, end, retryEveryMs }: NightWindow): TimeOfDay[] {
  const [first, last] = [minuteOf(start), minuteOf(end)]
  const period = Math.max(1, Math.ceil(retryEveryMs / MINUTE))
  const retries = Array.from(
    { length: Math.ceil((last - first) / period) - 1 },
    (_, index) => first + (index + 1) * period,
  )
  return [...retries, last]
}

/** The time of the drill: an hour after the window, so that it never competes with a retry. */
export function drillTime({ end }: NightWindow): TimeOfDay {
  return minuteOf(end, HOUR_MINUTES)
}

/** Expressions of systemd (systemd.time(7), Calendar events), one for each hour: `*-*-* 03:00,30:00 Europe/Berlin`. */
export function calendarLines(times: readonly TimeOfDay[], zone: string, days = '*-*-*'): string[] {
  const hours = Map.groupBy(times, (time) => Math.floor(time / HOUR_MINUTES))
  return [...hours].map(([hour, group]) => {
    const minutes = group.map((time) => twoDigits(time % HOUR_MINUTES)).join(',')
    return `${days} ${twoDigits(hour)}:${minutes}:00 ${zone}`
  })
}

/** The days of the drill: never more than 31 days apart, as its heartbeat expects. */
export const DRILL_DAYS = '*-*-01'

/** Minutes since midnight of a time `HH:MM`, some minutes later. */
function minuteOf(text: string, later = 0): TimeOfDay {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return (hour * HOUR_MINUTES + minute + later) % DAY_MINUTES
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
