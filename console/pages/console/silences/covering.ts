import type { Alert } from '../alerts/model.ts'
import type { Silence } from './model.ts'

const MATCHED_FIELDS = ['source', 'alarm_id', 'server_addr', 'title'] as const

type MatchedAlert = Pick<Alert, (typeof MATCHED_FIELDS)[number]>

/** Whether every matcher matches the alert. */
export function isCovered(alert: MatchedAlert, matchers: Silence['matchers']): boolean {
  return MATCHED_FIELDS.every((field) => isMatched(matchers[field], alert[field]))
}

/** The silence that covers an alert and ends last (docs/specification.md, Alerts). */
export function coveringSilence<T extends Pick<Silence, 'matchers' | 'ends_at'>>(
  alert: MatchedAlert,
  silences: readonly T[],
): T | undefined {
  return silences
    .filter(({ matchers }) => isCovered(alert, matchers))
    .toSorted((a, b) => Date.parse(b.ends_at) - Date.parse(a.ends_at))[0]
}

/** A pattern is an exact text, or a prefix that ends in `*`; without a pattern every text matches. */
function isMatched(pattern: string | undefined, text: string | null): boolean {
  if (pattern === undefined) return true
  if (text === null) return false
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}
