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

/** A time of the API in the time zone of the reader; a dash for null. */
export function localTime(time: string | null): string {
  return time === null ? '–' : times().format(Date.parse(time))
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `3 minutes ago`, `in 2 hours`. */
export function localDistance(time: string, now: number): string {
  const ms = Date.parse(time) - now
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? UNITS[3]
  return distances().format(Math.trunc(ms / size), unit)
}
