import { defineWords } from '../i18n/language.ts'
import { localNumber } from '../i18n/local.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** In English: `1 session`, `2 sessions`. */
export function formatSome(count: number, one: string): string {
  return `${localNumber(count)} ${count === 1 ? one : `${one}s`}`
}

/** `12 ms`, `1.2 s`; a dash when it is not known. */
export function formatRtt(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1) return '<1 ms'
  return Math.round(ms) < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`
}

const unitWords = defineWords({
  second: ['s', '秒'],
  minute: ['min', '分钟'],
  hour: ['h', '小时'],
  day: ['d', '天'],
})

/** The two largest units: `4 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. A negative one, from clocks that differ, is `0 s`. */
export function formatDuration(ms: number): string {
  const { second, minute, hour, day } = unitWords()
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} ${second}`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} ${minute}`
  if (ms < DAY) return twoUnits(ms, HOUR, hour, MINUTE, minute)
  return twoUnits(ms, DAY, day, HOUR, hour)
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small)
  const first = `${Math.floor(ms / large)} ${largeName}`
  return rest === 0 ? first : `${first} ${rest} ${smallName}`
}

/** Whole percents, but never 0 % or 100 % where it is only nearly so. */
export function formatShare(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return '0 %'
  if (part >= whole) return '100 %'
  const percent = Math.round((part / whole) * 100)
  if (percent === 0) return '<1 %'
  return percent === 100 ? '>99 %' : `${percent} %`
}
