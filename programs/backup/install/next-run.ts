import { MINUTE } from '../../../src/kernel/time.ts'
import { drillTime, runTimes, type NightWindow } from './calendar.ts'

const NIGHT: NightWindow = { start: '02:00', end: '06:00', retryEveryMs: 30 * MINUTE }

/**
 * When the timer begins the next night after `now`, both in milliseconds since the epoch: at the start of the window, or
 * in a night that has no such time, at the second call of the timer.
 */
export function nextRun(now: number, timeZone: string, window: NightWindow = NIGHT): number {
  return firstAfter(now, timeZone, (date) => {
    const calls = runTimes(window).map((minute) => instantOf(date, minute, timeZone))
    return calls.find((call) => call !== undefined)
  })
}

/** When the timer begins the next restore drill after `now`. */
export function nextDrill(now: number, timeZone: string, window: NightWindow = NIGHT): number {
  const minute = drillTime(window)
  return firstAfter(now, timeZone, (date) => (date.day === 1 ? instantOf(date, minute, timeZone) : undefined))
}

/** The first of the instants that the days have, beginning with the local date of `now`, that is later than `now`. */
function firstAfter(
  now: number,
  timeZone: string,
  instantOn: (date: Temporal.PlainDate) => number | undefined,
): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate()
  for (let date = today; ; date = date.add({ days: 1 })) {
    const instant = instantOn(date)
    if (instant !== undefined && instant > now) return instant
  }
}

/** Undefined for a local time that the date does not have; the first one if it has it twice. */
function instantOf(date: Temporal.PlainDate, minute: number, timeZone: string): number | undefined {
  const time = Temporal.PlainTime.from({ hour: Math.floor(minute / 60), minute: minute % 60 })
  const zoned = date.toZonedDateTime({ timeZone, plainTime: time })
  return zoned.toPlainTime().equals(time) ? zoned.epochMilliseconds : undefined
}

/** Milliseconds as local time for people: `2026-01-31 02:00 Europe/Berlin`. */
export function localTimeText(at: number, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return `${local.toPlainDate().toString()} ${local.toPlainTime().toString({ smallestUnit: 'minute' })} ${timeZone}`
}
