import type { Queries } from '../../../store/store.ts'
import { inhibitorIdOf, inhibitorOf, type AlertView } from '../model.ts'
import { silenceOf } from '../silences/model.ts'
import { listActive } from '../silences/store.ts'
import { findOpenAlarms } from '../store.ts'
import { currentEpisodes } from './episodes.ts'
import { OUTCOMES, type Outcome } from './model.ts'
import {
  directTargets,
  matchedRoutes,
  notificationTime,
  type AlertRoute,
  type EscalationStep,
  type Routing,
} from './routing.ts'
import { decide, type Facts } from './stages.ts'
import { findLatest, listEpisodes, listPendingOf, listNotifiedStates } from './store.ts'

/** Why a receiver is listed for an alert: it was notified, will be, or was left out for this reason. */
export const ROUTE_REASONS = [
  'told',
  'route',
  'waiting',
  'outside_hours',
  'escalation',
  'repetition',
  ...OUTCOMES.filter((outcome) => outcome !== 'pending'),
] as const
type RouteReason = (typeof ROUTE_REASONS)[number]

export interface RoutedReceiver {
  readonly name: string
  /** When the receiver was or will be notified; null if it is not. */
  readonly at: number | null
  readonly because: RouteReason
}

export interface RouteExplanation {
  /** Names of routes, or their numbers; `default` for the last one. */
  readonly matched: readonly (string | number)[]
  readonly receivers: readonly RoutedReceiver[]
}

type RoutableAlert = Parameters<typeof directTargets>[0]

/** What suppresses the notifications of an alert, if anything does. */
export type Suppression = Pick<Facts, 'silencedBy' | 'inhibitedBy'>

/** Where a report would go now if its alert were new. */
export function explainReport(
  report: RoutableAlert,
  routing: Routing,
  now: number,
  suppression: Suppression,
): RouteExplanation {
  const routes = matchedRoutes(report, routing)
  const direct = directTargets(report, routing).map(({ receiver: name, route }): RoutedReceiver => {
    const outcome = firstOutcome(report, route, suppression)
    if (outcome !== 'pending') return { name, at: null, because: outcome }
    const at = notificationTime(route, report.weight, now)
    return { name, at, because: at > now ? 'outside_hours' : 'route' }
  })
  const notified = direct.filter(({ at }) => at !== null)
  const later = routes
    .filter((route) => firstOutcome(report, route, suppression) === 'pending')
    .flatMap((route) => followUps(route, notificationTime(route, report.weight, now), notified))
  return { matched: routes.map(({ name }) => name), receivers: [...direct, ...later] }
}

/** The decision on the first notification of an alert; an alert that begins recovered notifies nobody. */
function firstOutcome({ weight }: RoutableAlert, route: AlertRoute, suppression: Suppression): Outcome {
  const decision = decide({
    occasion: 'raised',
    alert: { weight, status: 'firing' },
    textHash: '',
    route,
    notified: undefined,
    heldBack: undefined,
    ...suppression,
  })
  return decision?.outcome ?? 'below_level'
}

function followUps(route: AlertRoute, from: number, notified: readonly RoutedReceiver[]): RoutedReceiver[] {
  const { escalate, repeatEveryMs } = route
  const steps = escalate.flatMap((step) => escalationOf(step, from + step.afterMs))
  return repeatEveryMs === undefined ? steps : [...steps, ...repetitionOf(notified, from + repeatEveryMs)]
}

function escalationOf({ receivers }: EscalationStep, at: number | null): RoutedReceiver[] {
  return receivers.map((name) => ({ name, at, because: 'escalation' }))
}

function repetitionOf(notified: readonly RoutedReceiver[], at: number): RoutedReceiver[] {
  return notified.map(({ name }) => ({ name, at, because: 'repetition' }))
}

/** Who was notified of an alert and when, who will be, and why others were not. */
export async function explainAlert(
  queries: Queries,
  alert: AlertView,
  routing: Routing,
  now: number,
): Promise<RouteExplanation> {
  const routes = matchedRoutes(alert, routing)
  const notified = [...(await listNotifiedStates(queries, alert.id))].map(
    ([name, { at }]): RoutedReceiver => ({
      name,
      at,
      because: 'told',
    }),
  )
  const waiting = [...(await listPendingOf(queries, alert.id))].flatMap(
    ([name, pending]): RoutedReceiver[] => {
      const newest = pending.waiting.at(-1)
      if (!newest) return [{ name, at: null, because: 'waiting' }]
      const { at, dueAt } = newest
      return [{ name, at: dueAt ?? at, because: dueAt === null ? 'waiting' : 'outside_hours' }]
    },
  )
  const known = new Set([...notified, ...waiting].map(({ name }) => name))
  const others: RoutedReceiver[] = []
  for (const { receiver: name } of directTargets(alert, routing)) {
    if (known.has(name)) continue
    const { outcome = 'pending' } = (await findLatest(queries, alert.id, name)) ?? {}
    others.push({ name, at: null, because: outcome === 'pending' ? 'route' : outcome })
  }
  const { silencedBy, inhibitedBy } = await readSuppression(queries, alert, now)
  const suppressed: RouteReason | undefined = inhibitedBy ? 'inhibited' : silencedBy && 'silenced'
  const later = (await dueOf(queries, alert, routes, notified)).map((each) =>
    suppressed === undefined ? each : { ...each, at: null, because: suppressed },
  )
  return {
    matched: routes.map(({ name }) => name),
    receivers: [...notified, ...waiting, ...others, ...later],
  }
}

/** What suppresses an alert now; unlike in the transaction of a decision, nothing is locked. */
export async function readSuppression(
  queries: Queries,
  alert: Parameters<typeof silenceOf>[0],
  now: number,
): Promise<Suppression> {
  const id = inhibitorIdOf(alert)
  const inhibitor = inhibitorOf(alert, id === undefined ? [] : await findOpenAlarms(queries, [id]))
  return {
    silencedBy: silenceOf(alert, await listActive(queries, now), now),
    inhibitedBy: inhibitor && { id: inhibitor.id, alarmId: inhibitor.alarmId ?? '' },
  }
}

/** What is due later, unless somebody acknowledges the alert or it recovers. */
async function dueOf(
  queries: Queries,
  { id, weight, status }: AlertView,
  routes: readonly AlertRoute[],
  notified: readonly RoutedReceiver[],
): Promise<RoutedReceiver[]> {
  if (weight === 0 || status === 'acknowledged') return []
  const episodes = await listEpisodes(queries, id)
  return currentEpisodes(episodes, routes).flatMap(({ route, episode }) => {
    if (episode.dueAt === null) return []
    const steps = route.escalate
      .slice(episode.step)
      .flatMap((step, index) =>
        escalationOf(step, index === 0 ? episode.escalateAt : episode.startedAt + step.afterMs),
      )
    return episode.repeatAt === null ? steps : [...steps, ...repetitionOf(notified, episode.repeatAt)]
  })
}
