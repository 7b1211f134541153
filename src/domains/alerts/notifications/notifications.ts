import type { WaitingClock } from '../../../kernel/clock.ts'
import type { Job } from '../../../kernel/job.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Metrics } from '../../../kernel/metrics.ts'
import type { RecoverableAlerts, Severity } from '../../../ports/alerts.ts'
import type { Store } from '../../../store/store.ts'
import type { ModuleRunner } from '../../../wire/domain.ts'
import { weightOf, type Alert } from '../model.ts'
import { MATCHED_FIELDS } from '../silences/model.ts'
import { dueTellingJob } from './due-tellings.ts'
import { Notifier, type Suppressions } from './notifier.ts'
import { Receivers, removedReceiverJob, type Receiver } from './receivers.ts'
import { defaultRoute, type AlertRoute, type Hours, type Routing } from './routing.ts'
import { NotificationSender } from './sender.ts'

/** A route as it is configured. */
export interface RouteSettings {
  readonly name: string | number
  readonly match: Readonly<Partial<Record<'source' | 'alarm_id' | 'server_addr' | 'title', string>>>
  readonly minSeverity?: Severity
  readonly receivers: readonly string[]
  readonly repeatEveryMs?: number
  readonly escalate: AlertRoute['escalate']
  readonly hours?: Hours
  readonly continue: boolean
}

export interface RoutingSettings {
  readonly routes: readonly RouteSettings[]
  /** The receivers of the default route. */
  readonly defaultReceivers: readonly string[]
  /** Less severe alerts are not told by the default route. */
  readonly minSeverity: Severity
  /** Whether more is configured than the robot. */
  readonly isDamping: boolean
}

/** What the notifications of alerts need of the rest of the platform. */
export interface NotificationDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly suppressions: Suppressions
  readonly receivers: readonly Receiver[]
  readonly routing: RoutingSettings
  readonly encodeAlert: (alert: Alert) => string
  /** Where people open the console; undefined if that is not configured. */
  readonly consoleUrl: string | undefined
  /** Where the alert about a failing receiver is raised. */
  readonly alerts: RecoverableAlerts
}

/** The notifier, which decides in every process that reports alerts, and the senders, which run in the worker. */
export function createNotifications(deps: NotificationDeps): {
  notifier: Notifier
  receivers: Receivers
  routing: Routing
  runners: ModuleRunner[]
  jobs: Job[]
} {
  const routing = routingOf(deps)
  const senders = new Map<string, NotificationSender>()
  const wake = (receiver: string) => senders.get(receiver)?.wake()
  const receivers = new Receivers({ ...deps, wake })
  const notifier = new Notifier({ ...deps, routing, onPending: wake })
  for (const { name, channel } of deps.receivers)
    senders.set(
      name,
      new NotificationSender({
        ...deps,
        channel,
        channelName: name,
        judgeAgain: (tx, receiver, pending) =>
          notifier.judgeAgain(tx, receiver, pending, channel.needs === 'alerts'),
        count: (receiver, outcome, by) => notifier.count(receiver, outcome, by),
        ...(deps.routing.isDamping && {
          report: (tx, receiver, problem) => receivers.report(tx, receiver, problem),
        }),
      }),
    )
  const jobs = [dueTellingJob({ ...deps, notifier, routing }), removedReceiverJob(receivers)]
  return { notifier, receivers, routing, runners: [...senders.values()], jobs }
}

const KEYS = { source: 'source', alarmId: 'alarm_id', serverAddr: 'server_addr', title: 'title' } as const

/** The routes with the default behind them. */
export function routingOf({ receivers, routing }: Pick<NotificationDeps, 'receivers' | 'routing'>): Routing {
  const { routes, defaultReceivers, minSeverity, isDamping } = routing
  return {
    receivers: receivers.map(({ name }) => name),
    routes: [...routes.map(routeOf), defaultRoute(defaultReceivers, weightOf({ level: minSeverity }))],
    isDamping,
  }
}

function routeOf({ match, minSeverity, ...route }: RouteSettings): AlertRoute {
  const matchers = Object.fromEntries(
    MATCHED_FIELDS.flatMap((field) => {
      const pattern = match[KEYS[field]]
      return pattern === undefined ? [] : [[field, pattern]]
    }),
  )
  return { ...route, matchers, minWeight: minSeverity === undefined ? 0 : weightOf({ level: minSeverity }) }
}
