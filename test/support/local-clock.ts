import { DAY, MINUTE } from '../../src/kernel/time.ts'

/** Zones with clock changes of an hour and of half an hour, at night and at midnight, in both hemispheres. */
export const CHANGING_ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Havana',
] as const

/** What the clocks of a zone show at a moment, as if they were those of UTC. */
export interface Reading {
  readonly at: number
  readonly local: number
}

/** Clock changes are at multiples of it. */
export const READ_EVERY_MS = 15 * MINUTE

/** Reads the clocks of a zone with `Intl` alone: one reading after the other, through the span. */
export function readClocks(timeZone: string, from: number, to: number, everyMs = READ_EVERY_MS): Reading[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  const readings: Reading[] = []
  for (let at = from; at < to; at += everyMs)
    readings.push({ at, local: Date.parse(`${format.format(at).replace(' ', 'T')}Z`) })
  return readings
}

/** The days of ten years on which the clocks of a zone change: the day that is in the middle of each result. */
export function daysOfClockChanges(timeZone: string): number[] {
  const daily = readClocks(timeZone, Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1), DAY)
  return daily.flatMap(({ at, local }, n) => {
    const before = daily[n - 1]
    return before && local - before.local !== DAY ? [at - DAY] : []
  })
}

const dayOf = (local: number) => Math.floor(local / DAY) * DAY

/** The dates that clocks show, from the second one to the last but two, so that each has neighbours. */
export function datesOf(readings: readonly Reading[]): number[] {
  return [...new Set(readings.map(({ local }) => dayOf(local)))].slice(1, -2)
}

/** The first moment at which clocks show that time, or a later one: they may skip it. */
export function firstMoment(readings: readonly Reading[], local: number): number {
  return readings.find((each) => each.local >= local)?.at ?? NaN
}

/** The last moment at which clocks show that time, or the first moment after it if they skip it. */
export function lastMoment(readings: readonly Reading[], local: number): number {
  return readings.findLast((each) => each.local === local)?.at ?? firstMoment(readings, local)
}
