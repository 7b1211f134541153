import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { BadgeTone, Tone } from '../../../parts/status-badge.tsx'
import { call, session } from '../platform.ts'
import { settingsResource } from '../settings/model.ts'
import type { Silence } from '../silences/model.ts'
import { listOf, resourceOf } from '../sources.ts'

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

const ALERT_FILTERS: readonly ListFilter[] = [
  { name: 'text', kind: 'text', match: 'part' },
  { name: 'status', kind: 'choice', values: Object.keys(ALERT_TONES) },
  { name: 'level', kind: 'choice', values: LISTED_SEVERITIES },
  { name: 'source', kind: 'text' },
  { name: 'created', kind: 'period' },
]

/** The alert that an event is about. */
const alertIn = eventObject<Alert>('severity')

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

const PREFIX = 'alert.'

/** The list of the alerts, as the filters of the address say. */
export const alertList = listOf('listAlerts', PREFIX, {
  filters: ALERT_FILTERS,
  keyOf: ({ id }) => id,
  fromEvent: alertIn,
})

/** One alert. */
export const alertResource = resourceOf('getAlert', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => alertIn(event)?.id === id,
})

/** The changes of one alert. */
export const alertHistory: ResourceSource<AnswerOf<'getAlertHistory'>> = {
  ...alertResource,
  read: (id, signal) => call('getAlertHistory', { path: { id }, query: {} }, signal),
}

/** The decisions about its notifications. */
export const alertDecisions: ResourceSource<AnswerOf<'listAlertDecisions'>> = {
  ...alertResource,
  read: (id, signal) => call('listAlertDecisions', { path: { id }, query: {} }, signal),
}

/** How long an acknowledgement lasts; unknown to users who may not read the settings. */
export const acknowledgeFor: ResourceSource<{ readonly duration?: string }> = {
  ...settingsResource,
  async read(id, signal) {
    if (!session.may('getConfig')) return { ok: true, value: {}, etag: null }
    const settings = await settingsResource.read(id, signal)
    if (!settings.ok) return settings
    const { value } = settings.value.items.find(({ key }) => key === 'alerts.acknowledge_for') ?? {}
    return { ok: true, value: value === undefined ? {} : { duration: value }, etag: null }
  },
}
