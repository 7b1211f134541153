import { VALUES } from '../../../api/generated.ts'
import type { AnswerOf, ApiResult } from '../../../api/operations.ts'
import type { ListPage } from '../../../parts/list/list-model.ts'
import { readMostUrgent } from '../../../parts/list/most-urgent.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live, session } from '../platform.ts'

type Alert = AnswerOf<'listAlerts'>['items'][number]

/**
 * What `GET /overview` does not say about alerts: which are acknowledged or frozen, and which fire, in the order in which they
 * need a person.
 */
export interface AlertStates {
  readonly acknowledged: readonly Pick<Alert, 'severity'>[]
  readonly frozen: readonly unknown[]
  /** The alerts that fire, the most severe first, and of one severity the oldest first. If there are many, only the first ones. */
  readonly urgent: readonly Alert[]
  /** Since when the oldest one fires; null if none does, or if there are more than are read. */
  readonly oldestAt: string | null
}

export const NO_STATES: AlertStates = { acknowledged: [], frozen: [], urgent: [], oldestAt: null }

// Most platforms have fewer alerts; of more, the overview counts only these.
const MOST_READ = 200
const PAUSE_MS = 5_000
const SEVERITIES = VALUES.explainAlertRoute.severity

export const alertStates: ResourceSource<AlertStates> = {
  live,
  prefix: 'alert.',
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    if (!session.may('listAlerts')) return { ok: true, value: NO_STATES, etag: null }
    const [firing, acknowledged, frozen] = await Promise.all([
      readMostUrgent({
        read: (level) => alertsOf('firing', signal, level),
        levels: SEVERITIES,
        enough: 1,
      }),
      alertsOf('acknowledged', signal),
      alertsOf('frozen', signal),
    ])
    if (!firing.ok) return firing
    if (!acknowledged.ok) return acknowledged
    if (!frozen.ok) return frozen
    const held = { acknowledged: acknowledged.value.items, frozen: frozen.value.items }
    return { ok: true, value: { ...held, ...foremostOf(firing.value) }, etag: null }
  },
}

function alertsOf(
  status: Alert['status'],
  signal: AbortSignal,
  level?: Alert['severity'],
): Promise<ApiResult<AnswerOf<'listAlerts'>>> {
  return call('listAlerts', { query: { status, ...(level && { level }), limit: MOST_READ } }, signal)
}

function foremostOf({ items, next_cursor }: ListPage<Alert>): Pick<AlertStates, 'urgent' | 'oldestAt'> {
  const oldestFirst = items.toSorted((a, b) => Date.parse(a.first_at) - Date.parse(b.first_at))
  const urgent = oldestFirst.toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  )
  return { urgent, oldestAt: next_cursor === null ? (oldestFirst[0]?.first_at ?? null) : null }
}
