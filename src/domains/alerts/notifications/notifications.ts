import type { WaitingClock } from '../../../kernel/clock.ts'
import { runBatches, type Job } from '../../../kernel/job.ts'
import { CLOCK_DIFFERENCE_MS, isDueAt, SECOND } from '../../../kernel/time.ts'
import type { RecoverableAlerts, Severity } from '../../../ports/alerts.ts'
import type { ServiceDeps, Tx } from '../../../store/store.ts'
import { weightOf, type Alert } from '../model.ts'
import { MATCHED_FIELDS } from '../silences/model.ts'
import { lockAlert } from '../store.ts'
import { QUIET_MS } from './damping.ts'
import { currentEpisodes, judgeEpisode, staleEpisodes } from './episodes.ts'
import { Notifier, type Suppressions } from './notifier.ts'
import { Receivers, removedReceiverJob, type Receiver } from './receivers.ts'
import {
  defaultRoute,
  longestPause,
  matchedRoutes,
  type AlertRoute,
  type Hours,
  type Routing,
} from './routing.ts'
import { NotificationSender } from './sender.ts'
import {
  deleteDamping,
  deleteEpisodes,
  findDamping,
  listDueAlertIds,
  listEpisodes,
  saveEpisode,
} from './store.ts'

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
  /** Less severe alerts are not notified by the default route. */
  readonly minSeverity: Severity
  /** Whether more is configured than the robot. */
  readonly isDamping: boolean
}

/** What the notifications of alerts need of the rest of the platform. */
export interface NotificationDeps extends ServiceDeps {
  readonly clock: WaitingClock
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
export function createNotifications(deps: NotificationDeps) {
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
        notifier,
        ...(deps.routing.isDamping && {
          report: (tx, receiver, problem) => receivers.report(tx, receiver, problem),
        }),
      }),
    )
  const jobs = [dueNotificationJob({ ...deps, notifier, routing }), removedReceiverJob(receivers)]
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

const CHECK_EVERY_MS = SECOND
// Small batches let other writes run in between.
const BATCH = 50

interface DueNotificationDeps extends Pick<ServiceDeps, 'store' | 'clock'> {
  readonly routing: Routing
  readonly notifier: Notifier
}

/** Escalations, repetitions and digests whose time has come; what is due is kept in the database. */
function dueNotificationJob(deps: DueNotificationDeps): Job {
  const { routing } = deps
  const isNeeded = routing.isDamping || longestPause(routing) > 0
  return {
    name: 'alert-escalation',
    everyMs: CHECK_EVERY_MS,
    async run(signal) {
      if (isNeeded) await runBatches(signal, async () => (await notifyDue(deps, signal)) >= BATCH)
    },
  }
}

/** One batch; returns how many alerts were due. */
async function notifyDue(deps: DueNotificationDeps, signal: AbortSignal): Promise<number> {
  const { clock, routing, store } = deps
  const now = clock.now()
  const listDue = (table: 'alert_episodes' | 'alert_dampings', longestMs: number) =>
    listDueAlertIds(store.read, table, now, now + longestMs + CLOCK_DIFFERENCE_MS, BATCH)
  const due = [
    ...(await listDue('alert_episodes', longestPause(routing))).map((id) => [id, follow] as const),
    ...(await listDue('alert_dampings', QUIET_MS)).map((id) => [id, endQuiet] as const),
  ]
  for (const [id, change] of due) {
    if (signal.aborted) break
    await store.write(async (tx) => {
      const alert = await lockAlert(tx, id)
      // If the alert was deleted, its rows are deleted as well.
      if (alert) await change(deps, tx, alert)
    })
  }
  return signal.aborted ? 0 : due.length
}

async function follow(
  { clock, notifier, routing }: DueNotificationDeps,
  tx: Tx,
  alert: Alert,
): Promise<void> {
  if (alert.weight === 0 || alert.status === 'acknowledged') return void (await deleteEpisodes(tx, alert.id))
  const routes = matchedRoutes(alert, routing)
  const isSuppressed = await notifier.isSuppressed(tx, alert)
  const known = await listEpisodes(tx, alert.id)
  for (const { route, episode } of currentEpisodes(known, routes)) {
    const dueStep = judgeEpisode(episode, route, clock.now(), isSuppressed, alert.weight)
    await saveEpisode(tx, dueStep.episode)
    const targets = dueStep.escalated.map((receiver) => ({ receiver, route }))
    if (targets.length > 0) await notifier.notifyAgain(tx, 'escalated', alert, targets)
    if (dueStep.isRepeated) await notifier.notifyAgain(tx, 'repeated', alert, [])
  }
  for (const episode of staleEpisodes(known, routes))
    await saveEpisode(tx, { ...episode, escalateAt: null, repeatAt: null, dueAt: null })
}

/** Ends the quiet of an alert that has not changed for a while, with one digest. */
async function endQuiet({ clock, notifier }: DueNotificationDeps, tx: Tx, alert: Alert): Promise<void> {
  const damping = await findDamping(tx, alert.id)
  if (!damping || damping.dueAt === null || !isDueAt(damping.dueAt, clock.now(), QUIET_MS)) return
  await deleteDamping(tx, alert.id)
  await notifier.notify(tx, { kind: 'undamped', changes: damping.changes }, alert)
}
