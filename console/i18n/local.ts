import { language, LOCALES, type Language } from './language.ts'

/** A formatter for each language, created when it is first needed: creating one is slow. */
function perLanguage<T>(create: (locale: string) => T): () => T {
  const formatters = new Map<Language, T>()
  return () => {
    const current = language.value
    const formatter = formatters.get(current) ?? create(LOCALES[current])
    formatters.set(current, formatter)
    return formatter
  }
}

const numbers = perLanguage((locale) => new Intl.NumberFormat(locale))
const amounts = perLanguage(
  (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
)
const times = perLanguage(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
)
const distances = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))

export function localNumber(value: number): string {
  return numbers().format(value)
}

/** `4990` → `49.90`. The platform does not know the currency. */
export function localAmount(cents: number): string {
  return amounts().format(cents / 100)
}

const SIZES = (['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const).map((unit) =>
  perLanguage(
    (locale) =>
      new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }),
  ),
)

/** `1.5 MB`; a dash for null. */
export function localSize(bytes: number | null): string {
  if (bytes === null) return '–'
  const power = bytes < 1 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(bytes) / 3))
  return SIZES[power]?.().format(bytes / 1_000 ** power) ?? '–'
}

/** A time of the API, or in epoch milliseconds, in the time zone of the reader; a dash for null. */
export function localTime(time: string | number | null): string {
  return time === null ? '–' : times().format(new Date(time))
}

/** The time zone of {@link localTime}: `Asia/Shanghai`. */
export function localTimeZone(): string {
  return times().resolvedOptions().timeZone
}

const clocks = perLanguage(
  (locale) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }),
)
const days = perLanguage((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }))
const RECENT_MS = 18 * 3_600_000

/** `02:00` within 18 hours of `now`, otherwise `29 Jan`; epoch milliseconds. */
export function localWhen(ms: number, now: number): string {
  return (Math.abs(now - ms) < RECENT_MS ? clocks : days)().format(ms)
}

/** A time at the axis of a chart of this length: `02:00`, and `29 Jan` for more than a day and a half. */
export function localTick(ms: number, spanMs: number): string {
  return (spanMs <= 1.5 * DAY_MS ? clocks : days)().format(ms)
}

const weekdays = perLanguage((locale) => new Intl.DateTimeFormat(locale, { weekday: 'short' }))

/** A day of a week: `Mon`. */
export function localWeekday(ms: number): string {
  return weekdays().format(ms)
}

const DAY_MS = 86_400_000
const YEAR_DAYS = 365.25

// A span shorter than two years is too rough in years.
const UNITS = [
  { unit: 'year', ms: YEAR_DAYS * DAY_MS, fromMs: 2 * YEAR_DAYS * DAY_MS },
  { unit: 'day', ms: DAY_MS, fromMs: DAY_MS },
  { unit: 'hour', ms: 3_600_000, fromMs: 3_600_000 },
  { unit: 'minute', ms: 60_000, fromMs: 60_000 },
  { unit: 'second', ms: 1_000, fromMs: 0 },
] as const

/** The largest unit in which a distance is not too rough. */
function unitFor(distanceMs: number) {
  return UNITS.find(({ fromMs }) => Math.abs(distanceMs) >= fromMs) ?? UNITS[4]
}

/** `3 minutes ago`, `in 2 hours`. */
export function localDistance(time: string, now: number): string {
  const distance = Date.parse(time) - now
  const { unit, ms } = unitFor(distance)
  return distances().format(Math.trunc(distance / ms), unit)
}

const shortDistances = perLanguage(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'short' }),
)
const dates = perLanguage((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }))
const WEEK_MS = 7 * DAY_MS

/** `now`, `2 min ago`, `in 3 hr`; the date from a week on. */
export function localAgo(time: string, now: number): string {
  const distance = Date.parse(time) - now
  if (Math.abs(distance) < 60_000) return distances().format(0, 'second')
  if (Math.abs(distance) >= WEEK_MS) return dates().format(new Date(time))
  const { unit, ms } = unitFor(distance)
  return shortDistances().format(Math.trunc(distance / ms), unit)
}

function spanIn(unit: string): () => Intl.NumberFormat {
  return perLanguage((locale) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }))
}

const SPANS = { day: spanIn('day'), year: spanIn('year') } as const

/** `20 days`, `99 years`, `3 days ago`: whole years from two years on. */
export function localDays(days: number): string {
  const isShort = Math.abs(days) < 2 * YEAR_DAYS
  const [unit, count] = isShort ? (['day', days] as const) : (['year', Math.trunc(days / YEAR_DAYS)] as const)
  return days < 0 ? distances().format(count, unit) : SPANS[unit]().format(count)
}

const DURATION = /^(\d+)(ms|s|m|h|d)$/
const DURATION_UNITS: Readonly<Record<string, () => Intl.NumberFormat>> = {
  ms: spanIn('millisecond'),
  s: spanIn('second'),
  m: spanIn('minute'),
  h: spanIn('hour'),
  d: SPANS.day,
}

const SECONDS_IN = { d: 86_400, h: 3_600, m: 60, s: 1 } as const

/** In the largest unit that has a whole number of them: 300 → `5 minutes`, 90 → `90 seconds`. */
export function localSeconds(seconds: number): string {
  const [unit, size] = Object.entries(SECONDS_IN).find(
    ([, unitSeconds]) => seconds >= unitSeconds && seconds % unitSeconds === 0,
  ) ?? ['s', 1]
  return localDuration(`${seconds / size}${unit}`)
}

/** `4h` of a setting → `4 hours`; another text as it is. */
export function localDuration(text: string): string {
  const [, count, unit = ''] = DURATION.exec(text) ?? []
  return DURATION_UNITS[unit]?.().format(Number(count)) ?? text
}
