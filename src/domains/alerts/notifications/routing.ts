import { weeklySpans, type WeeklyHours } from '../../../kernel/time.ts'
import { matchesFields, type Matchers } from '../silences/model.ts'
import { CRITICAL_WEIGHT, type Alert, type AlertView, type AlertWeight } from '../model.ts'

/** When a route notifies at once; see `HoursConfig`. */
export interface Hours extends WeeklyHours {
  /** Whether CRITICAL waits for them, too. */
  readonly critical: boolean
}

/** Who is notified of the alerts that match it (docs/specification.md, Alert notifications). */
export interface AlertRoute {
  /** `default` for the last one. */
  readonly name: string | number
  readonly matchers: Matchers
  /** An alert below this weight does not notify the receivers. */
  readonly minWeight: AlertWeight
  readonly receivers: readonly string[]
  readonly repeatEveryMs?: number
  /** The earliest first. */
  readonly escalate: readonly EscalationStep[]
  readonly hours?: Hours
  readonly continue: boolean
}

/** Who is notified of an alert that nobody has acknowledged. */
export interface EscalationStep {
  /** Since the first notification. */
  readonly afterMs: number
  readonly receivers: readonly string[]
}

export interface Routing {
  /** Every receiver that is configured; if none is, nobody is notified. */
  readonly receivers: readonly string[]
  /** The default is the last one, and matches every alert. */
  readonly routes: readonly AlertRoute[]
  /** Whether an alert of which people are notified too often becomes quiet: not where the robot is all that is configured. */
  readonly isDamping: boolean
}

/** A receiver of an alert, and the route by whose rules it is notified. */
export interface Target {
  readonly receiver: string
  readonly route: AlertRoute
}

type RoutableAlert = Pick<AlertView, 'source' | 'alarmId' | 'serverAddr' | 'title'> & Pick<Alert, 'weight'>

export function defaultRoute(receivers: readonly string[], minWeight: AlertWeight): AlertRoute {
  return { name: 'default', matchers: {}, minWeight, receivers, escalate: [], continue: false }
}

/** The routes that decide about an alert: the first that matches, and those after it as long as they continue. */
export function matchedRoutes(
  alert: RoutableAlert,
  { routes }: Pick<Routing, 'routes'>,
): readonly AlertRoute[] {
  const matching = routes.filter(({ matchers }) => matchesFields(matchers, alert))
  const last = matching.findIndex((route) => !route.continue)
  return matching.slice(0, last + 1)
}

const FAILING = 'receiver.failing:'

/** The receivers that the routes of an alert name. A receiver is not notified of its own failure. */
export function directTargets(alert: RoutableAlert, routing: Routing): readonly Target[] {
  const failing = alert.alarmId?.startsWith(FAILING) ? alert.alarmId.slice(FAILING.length) : undefined
  const named = targetsOn(matchedRoutes(alert, routing), alert)
  if (failing === undefined) return named
  const others = (targets: readonly Target[]) => targets.filter(({ receiver }) => receiver !== failing)
  const last = routing.routes.slice(-1)
  const everybody = last.flatMap((route) => routing.receivers.map((receiver) => ({ receiver, route })))
  return [named, targetsOn(last, alert), everybody].map(others).find((targets) => targets.length > 0) ?? []
}

/** A receiver that several routes name is notified by the first of them whose least weight the alert has. */
function targetsOn(routes: readonly AlertRoute[], { weight }: RoutableAlert): Target[] {
  const names = [...new Set(routes.flatMap(({ receivers }) => receivers))]
  return names.flatMap((receiver) => {
    const naming = routes.filter(({ receivers }) => receivers.includes(receiver))
    const route = naming.find(({ minWeight }) => weight >= minWeight) ?? naming[0]
    return route ? [{ receiver, route }] : []
  })
}

/**
 * The receivers of the routes, and those who were notified of the alert by an escalation or by other routes and do not know of
 * its end.
 */
export function targetsOf(
  alert: RoutableAlert,
  notified: readonly string[],
  routing: Routing,
): readonly Target[] {
  const direct = directTargets(alert, routing)
  const others = notified.filter(
    (receiver) => routing.receivers.includes(receiver) && direct.every((each) => each.receiver !== receiver),
  )
  return [...direct, ...others.flatMap((receiver) => targetOf(alert, receiver, routing))]
}

/** A receiver that was notified of an alert, or is to be, with the route that it belongs to. */
export function targetOf(alert: RoutableAlert, receiver: string, routing: Routing): Target[] {
  const direct = directTargets(alert, routing).find((each) => each.receiver === receiver)
  if (direct) return [direct]
  const routes = matchedRoutes(alert, routing)
  const escalating = routes.find(({ escalate }) => escalate.some((step) => step.receivers.includes(receiver)))
  const route = escalating ?? routes[0]
  return route ? [{ receiver, route }] : []
}

/** When a route notifies of an alert: now, or outside of its hours at their next beginning. */
export function notificationTime({ hours }: AlertRoute, weight: AlertWeight, now: number): number {
  return !hours || (weight === CRITICAL_WEIGHT && !hours.critical) ? now : openingTime(hours, now)
}

/** Now if the hours are open, else when they open next. */
export function openingTime(hours: WeeklyHours, now: number): number {
  const [next] = weeklySpans(hours, now).take(1)
  return Math.max(now, next?.startsAt ?? now)
}

/** The longest time between a notification and what it makes due. */
export function longestPause({ routes }: Pick<Routing, 'routes'>): number {
  return Math.max(
    0,
    ...routes.flatMap(({ repeatEveryMs = 0, escalate }) => [
      repeatEveryMs,
      ...escalate.map(({ afterMs }) => afterMs),
    ]),
  )
}
