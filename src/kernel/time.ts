const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof UNITS

export const SECOND = UNITS.s
export const MINUTE = UNITS.m
export const HOUR = UNITS.h
export const DAY = UNITS.d

const DURATION = /^(\d{1,9})(ms|s|m|h|d)$/

/** Milliseconds of a duration in the form of the configuration (`30s`, `15m`, `2h`, `7d`), else undefined. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  return match ? Number(match[1]) * UNITS[match[2] as Unit] : undefined
}

/** The shortest text of a duration that {@link parseDuration} accepts: `900000` → `15m`. */
export function formatDuration(milliseconds: number): string {
  const unit = (['d', 'h', 'm', 's'] as const).find(
    (each) => milliseconds > 0 && milliseconds % UNITS[each] === 0,
  )
  return unit ? `${milliseconds / UNITS[unit]}${unit}` : `${milliseconds}ms`
}

// Formatting a date takes a microsecond, and a page of orders has hundreds of them, most within the same few seconds.
const CACHED_SECONDS = 1_024
const seconds = new Float64Array(CACHED_SECONDS).fill(Number.NaN)
const formatted = Array.from({ length: CACHED_SECONDS }, () => '')
const FRACTIONS = Array.from({ length: 1_000 }, (_, fraction) => `.${String(fraction).padStart(3, '0')}Z`)

/** RFC 3339 in UTC with milliseconds, the form of all responses: `2026-01-31T02:00:00.000Z`. */
export function toRfc3339(epochMilliseconds: number): string {
  const second = Math.floor(epochMilliseconds / 1_000)
  const slot = second & (CACHED_SECONDS - 1)
  if (seconds[slot] !== second) {
    formatted[slot] = new Date(second * 1_000).toISOString().slice(0, -FRACTION_LENGTH)
    seconds[slot] = second
  }
  return `${formatted[slot]}${FRACTIONS[Math.trunc(epochMilliseconds - second * 1_000)]}`
}

const FRACTION_LENGTH = '.000Z'.length

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Milliseconds since the epoch of an RFC 3339 time with any offset. Returns undefined for any other text, for a date that
 * does not exist (`2026-02-30`), and for a time outside the years 0000 to 9999 in UTC. A leap second counts as the
 * second after it.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = RFC3339.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const utc = new Date(0)
  utc.setUTCFullYear(year, month - 1, day)
  if (utc.getUTCMonth() !== month - 1 || utc.getUTCDate() !== day) return undefined
  utc.setUTCHours(hour, minute, second, Math.trunc(Number(match[7] ?? 0) * 1_000))
  const at = utc.getTime() - offsetMilliseconds(match[8] as string)
  return at < EARLIEST || at > LATEST ? undefined : at
}

/** The clocks of the hosts of one installation, and those before and after a small correction, differ by less. */
export const CLOCK_DIFFERENCE_MS = 60 * SECOND

/**
 * Whether a stored time has come, in epoch milliseconds. One that is clearly further away than the longest pause that is ever chosen was
 * written before the clock was set back, and counts as due: nothing waits until the clock has caught up.
 */
export function isDueAt(dueAt: number, now: number, longestPauseMs: number): boolean {
  return dueAt <= now || dueAt > now + longestPauseMs + CLOCK_DIFFERENCE_MS
}

/** Milliseconds from now of a `Retry-After` in seconds or with a date (RFC 9110, section 10.2.3); undefined for another text. */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

// RFC 3339 has years of four digits; an offset can move a time beyond them.
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

function offsetMilliseconds(offset: string): number {
  if (offset === 'Z' || offset === 'z') return 0
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))
  return (offset.startsWith('-') ? -minutes : minutes) * MINUTE
}

/** In the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Some hours of some days of the week, by the clocks of a zone. */
export interface WeeklyHours {
  /** On which they begin; at least one. */
  readonly days: readonly Weekday[]
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, of the next day if it is before `from`; `24:00` is the end of the day. Never that of `from`. */
  readonly to: string
  /** A name of the IANA time zone database. */
  readonly timeZone: string
}

/** From `startsAt`, until before `endsAt`; epoch milliseconds. */
export interface TimeSpan {
  readonly startsAt: number
  readonly endsAt: number
}

export const END_OF_DAY = '24:00'
// Hours of at most a day that began on an earlier date than these have ended, whatever clock changes there were.
const EARLIER_DAYS = 2

/**
 * The spans that end after that time, in order and without an end; they do not overlap. A start that the clock skips is the first
 * moment after it, and so is an end. A time that comes twice counts from the first to the last.
 */
export function* weeklySpans(hours: WeeklyHours, after: number): Generator<TimeSpan, never> {
  const zoned = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(hours.timeZone)
  const date = zoned.toPlainDate().subtract({ days: EARLIER_DAYS })
  let last: TimeSpan | undefined
  for (let days = 0; ; days++) {
    const span = spanOn(date.add({ days }), hours)
    if (!span || span.endsAt <= after) continue
    if (last && span.startsAt < last.endsAt) last = { ...last, endsAt: Math.max(last.endsAt, span.endsAt) }
    else {
      if (last) yield last
      last = span
    }
  }
}

/** Whether the text is the name of a zone that this program knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format()
    return true
  } catch {
    return false
  }
}

/** The span that begins on a date; undefined if there is none, or the clock skips the whole of it. */
function spanOn(date: Temporal.PlainDate, { days, from, to, timeZone }: WeeklyHours): TimeSpan | undefined {
  const weekday = WEEKDAYS[date.dayOfWeek - 1]
  if (weekday === undefined || !days.includes(weekday)) return undefined
  const isNextDay = to === END_OF_DAY || to < from
  const endDate = isNextDay ? date.add({ days: 1 }) : date
  const startsAt = momentsOf(date, from, timeZone).first
  const endsAt = momentsOf(endDate, to === END_OF_DAY ? '00:00' : to, timeZone).last
  return startsAt < endsAt ? { startsAt, endsAt } : undefined
}

/** When clocks show that time: they may show it twice; if they skip it, both are the first moment after it. */
function momentsOf(date: Temporal.PlainDate, time: string, timeZone: string) {
  const local = date.toPlainDateTime(time)
  const earlier = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  if (earlier.toPlainDateTime().equals(local)) {
    const later = local.toZonedDateTime(timeZone, { disambiguation: 'later' })
    return { first: earlier.epochMilliseconds, last: later.epochMilliseconds }
  }
  const skip = earlier.getTimeZoneTransition('next') ?? earlier
  return { first: skip.epochMilliseconds, last: skip.epochMilliseconds }
}
