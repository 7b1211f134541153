import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { BadgeTone, Tone } from '../../../parts/status-badge.tsx'
import type { Silence } from '../silences/model.ts'

export type Alert = AnswerOf<'getAlert'>
export type AlertChange = AnswerOf<'getAlertHistory'>['items'][number]
export type AlertDecision = AnswerOf<'listAlertDecisions'>['items'][number]

/** The silence that covers an alert now. */
export type SilenceFor = (alert: Alert) => Silence | undefined

export const ALERT_TONES: Readonly<Record<Alert['status'], Tone>> = {
  firing: 'danger',
  acknowledged: 'active',
  recovered: 'good',
  frozen: 'warning',
}

export const SEVERITY_TONES: Readonly<Record<Alert['severity'], BadgeTone>> = {
  CRITICAL: 'critical',
  HIGH: 'danger',
  ERROR: 'warning',
  WARNING: 'warning',
  INFO: 'active',
  CLOSE: 'quiet',
}

export const OUTCOME_TONES: Readonly<Record<AlertDecision['outcome'], Tone>> = {
  disabled: 'quiet',
  below_level: 'quiet',
  inhibited: 'quiet',
  silenced: 'quiet',
  acknowledged: 'quiet',
  frozen: 'warning',
  damped: 'warning',
  superseded: 'quiet',
  pending: 'active',
  sent: 'good',
  bundled: 'good',
  failed: 'danger',
}

/** Those of alerts that are not closed, the most severe first. */
export const LISTED_SEVERITIES = ['CRITICAL', 'HIGH', 'ERROR', 'WARNING', 'INFO'] as const

export const ALERT_FILTERS: readonly ListFilter[] = [
  { name: 'text', kind: 'text', match: 'part' },
  { name: 'status', kind: 'choice', values: Object.keys(ALERT_TONES) },
  { name: 'level', kind: 'choice', values: LISTED_SEVERITIES },
  { name: 'source', kind: 'text' },
  { name: 'created_from', kind: 'time' },
  { name: 'created_to', kind: 'time' },
]

/** The alert that an event is about. */
export const alertIn = eventObject<Alert>('severity')

const HOUR_MS = 3_600_000

/** What a form for a silence of this alert begins with: its source, its alarm id or title, and its server, for an hour. */
export function silenceOf(alert: Alert, now: number): Readonly<Record<string, string>> {
  return {
    'matchers.source': alert.source,
    ...(alert.alarm_id === null
      ? { 'matchers.title': alert.title }
      : { 'matchers.alarm_id': alert.alarm_id }),
    ...(alert.server_addr !== null && { 'matchers.server_addr': alert.server_addr }),
    ends_at: new Date(now + HOUR_MS).toISOString(),
  }
}
