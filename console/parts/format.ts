const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const numbers = new Intl.NumberFormat('en')

/** `1,234`. */
export function formatCount(count: number): string {
  return numbers.format(count)
}

/** `1 session`, `2 sessions`. */
export function formatSome(count: number, one: string): string {
  return `${formatCount(count)} ${count === 1 ? one : `${one}s`}`
}

/** `12 ms`, `1.2 s`; a dash when it is not known. */
export function formatRtt(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1) return '<1 ms'
  return Math.round(ms) < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`
}

/** The two largest units: `4 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. A negative one, from clocks that differ, is `0 s`. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return twoUnits(ms, HOUR, 'h', MINUTE, 'min')
  return twoUnits(ms, DAY, 'd', HOUR, 'h')
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

/** `2026-01-31 02:00:00 UTC`. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** In the reader's own time zone: `02:00` within the last 18 hours of `now`, earlier `29 Jan`. */
export function formatWhen(ms: number, now: number): string {
  return (now - ms < 18 * HOUR ? clock : day).format(ms)
}

/** Cuts a text that is longer, with an ellipsis as its last character. */
export function shorten(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, Math.max(0, length - 1)).join('')}…`
}
