import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { BadgeTone, Tone } from '../../../parts/status-badge.tsx'
import { call, session } from '../platform.ts'
import { settingsResource } from '../settings/model.ts'
import type { Silence } from '../silences/model.ts'
import { listOf, resourceOf } from '../sources.ts'
import { FIRING_SEVERITIES } from './severities.ts'
import { alertWords } from './words.ts'

export type Alert = AnswerOf<'getAlert'>
export type AlertChange = AnswerOf<'getAlertHistory'>['items'][number]
export type AlertDecision = AnswerOf<'listAlertDecisions'>['items'][number]

/** The silence that covers an alert now. */
export type SilenceFor = (alert: Alert) => Silence | undefined

/** Only the severity of an alert has a colour: a notice that fires is no reason for red. */
export const ALERT_TONES = {
  firing: 'raised',
  acknowledged: 'taken',
  recovered: 'ended',
  frozen: 'held',
} as const satisfies Readonly<Record<Alert['status'], BadgeTone>>

/** The tones of the states in the history, where each state has a dot. */
export const ALERT_CHANGE_TONES: Readonly<Record<Alert['status'], Tone>> = {
  firing: 'warning',
  acknowledged: 'active',
  recovered: 'good',
  frozen: 'quiet',
}

export const SEVERITY_TONES: Readonly<Record<Alert['severity'], BadgeTone>> = {
  CRITICAL: 'critical',
  HIGH: 'high',
  ERROR: 'error',
  WARNING: 'warning',
  INFO: 'notice',
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

const ALERT_FILTERS: readonly ListFilter[] = [
  { name: 'text', kind: 'text', match: 'part' },
  { name: 'status', kind: 'choice', values: Object.keys(ALERT_TONES) },
  { name: 'level', kind: 'choice', values: FIRING_SEVERITIES },
  { name: 'source', kind: 'text' },
  { name: 'created', kind: 'period' },
]

/** The alert that an event is about. */
const alertIn = eventObject('Alert')

const SILENCED_MS = 2 * 3_600_000

/** The matchers of one silence for these alerts: of each field the text that all have, or the beginning that all share. */
function matchersOf(alerts: readonly Alert[]): Silence['matchers'] {
  const source = patternOf(alerts.map((alert) => alert.source))
  const alarm_id = patternOf(alerts.map((alert) => alert.alarm_id))
  const title = alarm_id === undefined ? patternOf(alerts.map((alert) => alert.title)) : undefined
  const server_addr = patternOf(alerts.map((alert) => alert.server_addr))
  const matchers = { source, alarm_id, title, server_addr }
  return Object.fromEntries(Object.entries(matchers).filter(([, pattern]) => pattern !== undefined))
}

// Texts share a shorter beginning by chance.
const LEAST_PREFIX = 3

function patternOf([first = null, ...others]: readonly (string | null)[]): string | undefined {
  if (first === null || others.includes(null)) return undefined
  let length = first.length
  while (others.some((text) => !text?.startsWith(first.slice(0, length)))) length--
  if (others.every((text) => text === first)) return first
  return length < LEAST_PREFIX ? undefined : `${first.slice(0, length)}*`
}

/** What silences these alerts for two hours: a silence for each source, with the matchers that fit its alerts. */
export function silencesOf(alerts: readonly Alert[], now: number): readonly BodyOf<'createSilence'>[] {
  const ends_at = new Date(now + SILENCED_MS).toISOString()
  return [...Map.groupBy(alerts, ({ source }) => source).values()].map((alertsOfSource) => ({
    matchers: matchersOf(alertsOfSource),
    reason: alertWords().silenceReason,
    ends_at,
  }))
}

/** The initial values of the form for the first silence of {@link silencesOf}. */
export function silenceForm(alerts: readonly Alert[], now: number): FormValues {
  const [first] = silencesOf(alerts, now)
  const { matchers, ...rest } = first ?? {}
  const fields = Object.entries(matchers ?? {}).map(([name, pattern]) => [`matchers.${name}`, pattern])
  return { ...(rest as FormValues), ...Object.fromEntries(fields) }
}

/** Alerts that are one line when there are many of them. */
export function alertGroup({ severity, source }: Alert): string {
  return `${severity} ${source}`
}

const PREFIX = 'alert.'

// Many alerts of one severity are one line.
const PAGE_LENGTH = 500

/** The list of the alerts, as the filters of the address say: the most severe ones first. */
export const alertList = listOf('listAlerts', PREFIX, {
  filters: ALERT_FILTERS,
  sorts: [
    { value: '', column: 'severity', direction: 'descending' },
    { value: 'created_at', column: 'created_at', direction: 'descending' },
  ],
  keyOf: ({ id }) => id,
  // Another severity is another place in the list.
  fromEvent: (event) => alertIn(event) && 'changed',
  read: (query, signal) =>
    call('listAlerts', { query: { sort: 'severity', limit: PAGE_LENGTH, ...query } }, signal),
})

/** One alert. */
export const alertResource = resourceOf('getAlert', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => alertIn(event)?.id === id,
})

/** What has happened to an alert: a change, or a decision about the notification of a receiver. */
export type AlertMoment = { readonly change: AlertChange } | { readonly decision: AlertDecision }

// The most that the API answers at once.
const MOST_MOMENTS = 1_000

/** The changes of one alert and the decisions about its notifications, newest first. */
export const alertTimeline: ResourceSource<{ readonly items: readonly AlertMoment[] }> = {
  ...alertResource,
  async read(id, signal) {
    const request = { path: { id }, query: { limit: MOST_MOMENTS } }
    const [history, decisions] = await Promise.all([
      call('getAlertHistory', request, signal),
      call('listAlertDecisions', request, signal),
    ])
    if (!history.ok) return history
    if (!decisions.ok) return decisions
    // At the same moment a decision follows the change that it is about.
    const moments = [
      ...decisions.value.items.map((decision) => ({ at: decision.at, moment: { decision } })),
      ...history.value.items.map((change) => ({ at: change.at, moment: { change } })).toReversed(),
    ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
    return { ok: true, value: { items: moments.map(({ moment }) => moment) }, etag: null }
  },
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
