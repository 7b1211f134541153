import type { Alert } from '../alerts/model.ts'
import type { Silence } from './model.ts'

const MATCHED_FIELDS = ['source', 'alarm_id', 'server_addr', 'title'] as const

type MatchedAlert = Pick<Alert, (typeof MATCHED_FIELDS)[number]>

/** Whether every matcher matches the alert. */
export function isCovered(alert: MatchedAlert, matchers: Silence['matchers']): boolean {
  return MATCHED_FIELDS.every((field) => isMatched(matchers[field], alert[field]))
}

/** The silence that covers an alert and ends last (docs/specification.md, Alerts). */
export function coveringSilence<T extends Pick<Silence, 'matchers' | 'label_matchers' | 'ends_at'>>(
  alert: MatchedAlert,
  silences: readonly T[],
): T | undefined {
  return (
    silences
      // Labels are known to the platform alone; its decision on the alert names such a silence.
      .filter(({ matchers, label_matchers }) => !label_matchers && isCovered(alert, matchers))
      .toSorted((a, b) => Date.parse(b.ends_at) - Date.parse(a.ends_at))[0]
  )
}

/** A pattern is an exact text, or a prefix that ends in `*`; without a pattern every text matches. */
function isMatched(pattern: string | undefined, text: string | null): boolean {
  if (pattern === undefined) return true
  if (text === null) return false
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

/** The matchers of a silence as one text: first its patterns, then those of labels as an Alertmanager writes them. */
export function matchersText({
  matchers,
  label_matchers,
}: Pick<Silence, 'matchers' | 'label_matchers'>): string {
  return [...Object.values(matchers), ...(label_matchers ?? []).map(labelMatcherText)].join(', ')
}

export function labelMatcherText({
  name,
  value,
  is_regex,
  is_equal,
}: NonNullable<Silence['label_matchers']>[number]): string {
  const [exact, regex] = is_equal ? ['=', '=~'] : ['!=', '!~']
  return `${name}${is_regex ? regex : exact}${JSON.stringify(value)}`
}
