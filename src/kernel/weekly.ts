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
