import { DAY, SECOND } from '../../../kernel/time.ts'
import type { AlertView } from '../model.ts'

/** How long a silence may last. */
export const SILENCE_MAX_MS = 30 * DAY

/**
 * How long after the end of a silence its alerts are read: a transaction that began before the end may commit a moment
 * later.
 */
export const SETTLE_MS = 2 * SECOND

/** The fields of an alert that a silence can match. */
export const MATCHED_FIELDS = ['source', 'alarmId', 'serverAddr', 'title'] as const
export type MatchedField = (typeof MATCHED_FIELDS)[number]

/** The expected texts: each is exact, or a prefix that ends in `*`. All of them must match. */
export type Matchers = Readonly<Partial<Record<MatchedField, string>>>

export const SILENCE_STATES = ['active', 'pending', 'ended'] as const
export type SilenceState = (typeof SILENCE_STATES)[number]

/** Suppresses the notifications of the matching alerts for some time. */
export interface Silence {
  readonly id: string
  readonly matchers: Matchers
  readonly reason: string
  /** From `startsAt`, until before `endsAt`; epoch milliseconds. */
  readonly startsAt: number
  readonly endsAt: number
  readonly createdBy: string
  readonly createdAt: number
  /** Who has ended it; null until its end is recorded. */
  readonly endedBy: string | null
}

/** What a client sends to create a silence. */
export interface NewSilence {
  readonly matchers: Matchers
  readonly reason: string
  readonly startsAt?: number
  readonly endsAt: number
}

export function stateOf(
  { startsAt, endsAt }: Pick<Silence, 'startsAt' | 'endsAt'>,
  now: number,
): SilenceState {
  if (endsAt <= now) return 'ended'
  return startsAt <= now ? 'active' : 'pending'
}

/** Whether the silence is about this alert, at any time. */
export function isMatched(
  { matchers }: Pick<Silence, 'matchers'>,
  alert: Pick<AlertView, MatchedField>,
): boolean {
  return MATCHED_FIELDS.every((field) => {
    const pattern = matchers[field]
    return pattern === undefined || matchesText(pattern, alert[field])
  })
}

/** The active silence that matches this alert and ends last; undefined if there is none. */
export function silenceOf<T extends Pick<Silence, 'matchers' | 'startsAt' | 'endsAt'>>(
  alert: Pick<AlertView, MatchedField>,
  silences: readonly T[],
  now: number,
): T | undefined {
  return silences
    .filter((silence) => stateOf(silence, now) === 'active' && isMatched(silence, alert))
    .reduce<T | undefined>((last, each) => (last && last.endsAt >= each.endsAt ? last : each), undefined)
}

function matchesText(pattern: string, text: string | null): boolean {
  if (text === null) return false
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}
