import type { AlertTable } from '../../../kernel/alerts.ts'
import {
  CLOCK_DIFFERENCE_MS,
  DAY,
  SECOND,
  weeklySpans,
  type TimeSpan,
  type WeeklyHours,
} from '../../../kernel/time.ts'
import { labelsOf, matchesLabels, type LabelMatcher } from '../labels.ts'
import type { AlertView } from '../model.ts'

/** How long a silence may last. */
export const SILENCE_MAX_MS = 30 * DAY
/** How long one that repeats may last, and does unless it is given an end. */
export const REPEAT_MAX_MS = 366 * DAY
/** How long before its end people are told that a silence does not repeat any more. */
export const NOTICE_BEFORE_MS = DAY
/** How many windows of a silence are shown. */
export const SHOWN_WINDOWS = 5

/**
 * How long after the end of a silence its alerts are read: a transaction that began before the end may commit a moment
 * later.
 */
export const SETTLE_MS = 2 * SECOND

/** The fields of an alert that a silence can match. */
export const MATCHED_FIELDS = ['source', 'alarmId', 'serverAddr', 'title'] as const
export type MatchedField = (typeof MATCHED_FIELDS)[number]

/** The expected texts. Each one is exact, or a prefix that ends in `*`; all of them must match. */
export type Matchers = Readonly<Partial<Record<MatchedField, string>>>

export const SILENCE_STATES = ['active', 'pending', 'ended'] as const
export type SilenceState = (typeof SILENCE_STATES)[number]

/** Suppresses the notifications of the matching alerts for some time, or again and again. */
export interface Silence {
  readonly id: string
  readonly matchers: Matchers
  /** Matchers of labels, which the client of an Alertmanager has set; they must match, too. Null for none. */
  readonly labelMatchers: readonly LabelMatcher[] | null
  readonly reason: string
  /** From `startsAt`, until before `endsAt`; epoch milliseconds. */
  readonly startsAt: number
  readonly endsAt: number
  /** When it is active meanwhile; null for always. */
  readonly repeat: WeeklyHours | null
  /** The window that was the current or the next one at `seenAt`; null for one without `repeat`. */
  readonly windowStartsAt: number | null
  readonly windowEndsAt: number | null
  /** When it was worked on last: it was created, or began, or a window has ended. Null for its creation. */
  readonly seenAt: number | null
  readonly createdBy: string
  readonly createdAt: number
  /** Who has ended it; null until its end is recorded. */
  readonly endedBy: string | null
  /** 1 at the creation, larger after each change. */
  readonly version: number
}

/** What a client sends to create a silence. */
export interface NewSilence {
  readonly matchers: Matchers
  readonly labelMatchers?: readonly LabelMatcher[]
  readonly reason: string
  readonly startsAt?: number
  /** The default for one that repeats is the longest; any other one needs it. */
  readonly endsAt?: number
  readonly repeat?: WeeklyHours
}

/** When a silence suppresses notifications. */
export type SilenceTimes = Pick<Silence, 'startsAt' | 'endsAt'> &
  Partial<Pick<Silence, 'repeat' | 'windowStartsAt' | 'windowEndsAt' | 'seenAt' | 'createdAt' | 'endedBy'>>

/** Whether no alert gets past it. */
export function matchesAll({
  matchers,
  labelMatchers,
}: Pick<Silence, 'matchers' | 'labelMatchers'>): boolean {
  return labelMatchers === null && Object.values(matchers).every((expected) => expected === '*')
}

/** Whether the clock was set back since the silence was worked on: it may have begun or ended by a time that is to come. */
export function wasSetBack({ seenAt, createdAt = 0 }: SilenceTimes, now: number): boolean {
  return (seenAt ?? createdAt) > now + CLOCK_DIFFERENCE_MS
}

/** The state of a silence. If its end is recorded it has ended, whatever the clock says now. */
export function stateOf(silence: SilenceTimes, now: number): SilenceState {
  if (silence.endsAt <= now || (silence.endedBy ?? null) !== null) return 'ended'
  return windowOf(silence, now).startsAt <= now ? 'active' : 'pending'
}

/** The windows of a silence that end after that time, in order. */
export function* windowsOf({ startsAt, endsAt, repeat }: SilenceTimes, after: number): Generator<TimeSpan> {
  if (!repeat) {
    if (endsAt > after) yield { startsAt, endsAt }
    return
  }
  for (const span of weeklySpans(repeat, Math.max(after, startsAt))) {
    if (span.startsAt >= endsAt) return
    yield { startsAt: Math.max(span.startsAt, startsAt), endsAt: Math.min(span.endsAt, endsAt) }
  }
}

/** The current or the next window of a silence that has not ended; an empty one at its end if none is left. */
export function windowOf(silence: SilenceTimes, now: number): TimeSpan {
  const { endsAt, windowStartsAt = null, windowEndsAt = null } = silence
  const isKnown = windowStartsAt !== null && windowEndsAt !== null && !wasSetBack(silence, now)
  if (isKnown && windowEndsAt > now)
    return { startsAt: windowStartsAt, endsAt: Math.min(windowEndsAt, endsAt) }
  const [window = { startsAt: endsAt, endsAt }] = windowsOf(silence, now).take(1)
  return window
}

/**
 * When a silence has to be worked on next: at the beginning and after the end of its window, and before the last end of one
 * that repeats.
 */
export function workAt({ endsAt, repeat }: SilenceTimes, window: TimeSpan, now: number): number {
  const times = [window.startsAt, ...(repeat ? [endsAt - NOTICE_BEFORE_MS] : [])]
  return Math.min(...times.filter((time) => time > now), window.endsAt + SETTLE_MS)
}

type SilenceMatchers = Pick<Silence, 'matchers'> & Partial<Pick<Silence, 'labelMatchers'>>

/** The fields of an alert that a silence can match. */
export type Matchable = Pick<AlertView, MatchedField | 'labels' | 'weight'>

/** Whether the silence is about this alert, at any time. */
export function isMatched({ matchers, labelMatchers }: SilenceMatchers, alert: Matchable): boolean {
  return matchesFields(matchers, alert) && (!labelMatchers || matchesLabels(labelMatchers, labelsOf(alert)))
}

/** Whether all expected texts match. */
export function matchesFields(matchers: Matchers, alert: Pick<AlertView, MatchedField>): boolean {
  return MATCHED_FIELDS.every((field) => {
    const pattern = matchers[field]
    return pattern === undefined || matchesText(pattern, alert[field])
  })
}

/** The active silence that matches this alert and ends last; undefined if there is none. */
export function silenceOf<T extends SilenceMatchers & SilenceTimes>(
  alert: Matchable,
  silences: readonly T[],
  now: number,
): T | undefined {
  const endOf = (silence: T) => windowOf(silence, now).endsAt
  return silences
    .filter((silence) => stateOf(silence, now) === 'active' && isMatched(silence, alert))
    .reduce<T | undefined>((last, each) => (last && endOf(last) >= endOf(each) ? last : each), undefined)
}

function matchesText(pattern: string, text: string | null): boolean {
  if (text === null) return false
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

/** The events of silences (docs/specification.md, Events). */
export const SILENCE_EVENTS = {
  silenceCreated: 'silence.created',
  silenceEnded: 'silence.ended',
} as const

/** The alerts about silences, for `docs/reference/alerts.md`. */
export const SILENCE_ALERTS = {
  'silence.ending:*': {
    severities: ['WARNING'],
    raisedBy: 'A silence that repeats ends for good within a day; `*` is its id.',
    endedBy: 'The silence has ended.',
    whatToDo: 'Create another silence, or repair what it keeps quiet.',
  },
} as const satisfies AlertTable
