import type { Clock } from '../../kernel/clock.ts'
import { countJob, runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { late } from '../../kernel/late.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import {
  ALERT_READERS,
  weightOf,
  ALERT_STATUSES,
  type AlertView,
  type Alert,
  ALERT_EVENTS,
  inhibitorIdOf,
  inhibitorOf,
} from './model.ts'
import { alertmanagerRoutes } from './alertmanager/routes.ts'
import { Alertmanager, type AlertmanagerDeps } from './alertmanager/service.ts'
import { INTAKE_ALERTS } from './intake/alerts.ts'
import { intakeRoutes } from './intake/routes.ts'
import {
  explainAlert,
  explainReport,
  readSuppression,
  type RouteExplanation,
} from './notifications/explain.ts'
import { createNotifications, routingOf, type NotificationDeps } from './notifications/notifications.ts'
import { RECEIVER_ALERTS, type Receivers } from './notifications/receivers.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { names as notificationTables } from './notifications/tables.ts'
import { ALERT_ERRORS, alertRoutes, AlertSchema, encodeAlert, fromReportBody } from './routes.ts'
import { Alerts, type AlertDeps } from './service.ts'
import { SILENCE_ALERTS, SILENCE_EVENTS, silenceOf } from './silences/model.ts'
import { SILENCE_READERS, silenceRoutes, encodeSilence, SilenceSchema } from './silences/routes.ts'
import { Silences, type SilenceView } from './silences/service.ts'
import { listActive } from './silences/store.ts'
import { names as silenceTables } from './silences/tables.ts'
import { shareAlert } from './store.ts'
import { names } from './tables.ts'

export type { Alert, AlertLevel, AlertStatus, AlertView, AlertWeight, Report } from './model.ts'
export type { AlertNotifications, AlertOccasion } from './occasion.ts'
export { testReceiver, type Receiver, type ReceiverView } from './notifications/receivers.ts'
export { encodeAlertRoute } from './notifications/routes.ts'
export type { RouteExplanation } from './notifications/explain.ts'
export { matchesAll } from './silences/model.ts'
export type { SilenceView } from './silences/service.ts'
export { DUE_TABLES, restoreNotifications } from './restored.ts'
export { Alerts, type AlertDeps } from './service.ts'
export { MOST_SEVERE_FIRST } from './store.ts'

/** What the whole domain needs: its events are about alerts or silences. */
export interface AlertsDomainDeps
  extends
    Omit<AlertDeps, 'clock' | 'events' | 'notifications'>,
    Omit<NotificationDeps, 'suppressions' | 'alerts' | 'encodeAlert'>,
    Pick<AlertmanagerDeps, 'version' | 'userNames'> {
  readonly events: EventSink<AlertView | SilenceView>
  /** How long recovered alerts are kept, in milliseconds. */
  readonly keepMs: number
  /** How long what an Alertmanager's webhook has reported fires without news of its group, in milliseconds. */
  readonly webhookStaleAfterMs: number
}

/**
 * Where a report in the form of `POST /alerts/report` would go now if its alert were new; throws `validation_failed` for a
 * wrong one. Without a database no silence and no other alert suppresses it.
 */
export async function routeOfReport(
  body: Parameters<typeof fromReportBody>[0],
  settings: Pick<NotificationDeps, 'receivers' | 'routing'>,
  { now, queries }: { readonly now: number; readonly queries?: Queries },
): Promise<RouteExplanation> {
  const report = fromReportBody(body)
  const alert = { ...report, weight: weightOf(report), labels: null }
  const suppression = queries
    ? await readSuppression(queries, alert, now)
    : { silencedBy: undefined, inhibitedBy: undefined }
  return explainReport(alert, routingOf(settings), now, suppression)
}

/** Alerts of the platform itself and of its clients (docs/specification.md, Alerts). */
export const alertsDomain = defineDomain({
  name: 'alerts',
  tables: [...names, ...silenceTables, ...notificationTables],
  events: { ...ALERT_EVENTS, ...SILENCE_EVENTS },
  eventSchemas: { 'alert.*': AlertSchema, 'silence.*': SilenceSchema },
  eventReaders: ALERT_READERS,
  eventReadersOf: {
    [SILENCE_EVENTS.silenceCreated]: SILENCE_READERS,
    [SILENCE_EVENTS.silenceEnded]: SILENCE_READERS,
  },
  errors: ALERT_ERRORS,
  alerts: { ...INTAKE_ALERTS, ...SILENCE_ALERTS, ...RECEIVER_ALERTS },
  encodeEvent: (data: AlertView | SilenceView) =>
    'matchers' in data ? encodeSilence(data) : encodeAlert(data),
  create: (deps: AlertsDomainDeps) => {
    const suppressions = createSuppressions(deps.clock)
    // The alert about a failing receiver is an alert as any other.
    const { notifier, receivers, routing, jobs, runners } = createNotifications({
      ...deps,
      suppressions,
      alerts: late<RecoverableAlerts>(() => alerts),
      encodeAlert,
    })
    const alerts = new Alerts({ ...deps, notifications: notifier })
    const silences = new Silences({ ...deps, alerts })
    return {
      service: alerts,
      notices: receivers,
      silences,
      explainRoute: async (id: string) =>
        explainAlert(deps.store.read, await alerts.get(id), routing, deps.clock.now()),
      routes: [
        ...alertRoutes(alerts),
        ...silenceRoutes(silences),
        ...notificationRoutes({ ...deps, alerts, receivers, routing }),
        ...intakeRoutes(alerts, deps),
        ...alertmanagerRoutes(new Alertmanager({ ...deps, routing }), silences),
      ],
      jobs: {
        api: [alertCountJob(alerts, deps.metrics)],
        worker: [
          alertTimeJob(alerts),
          silenceEndJob(silences),
          alertPruneJob(alerts, silences, deps),
          ...jobs,
        ],
      },
      runners: { worker: runners },
    } satisfies DomainParts & {
      notices: Receivers
      silences: Silences
      explainRoute: (id: string) => Promise<RouteExplanation>
    }
  },
})

const CHANGE_EVERY_MS = 5 * SECOND
// Small batches let other writes run in between.
const CHANGE_BATCH = 50
const PRUNE_BATCH = 100

/** Changes alerts whose time has come: acknowledgements lapse, freezes end, alerts expire, also with their groups. */
export function alertTimeJob(alerts: Pick<Alerts, 'changeDue' | 'pruneGroups'>): Job {
  return {
    name: 'alert-time',
    everyMs: CHANGE_EVERY_MS,
    async run(signal) {
      await runBatches(signal, async () => {
        const { due, changed } = await alerts.changeDue(CHANGE_BATCH)
        // Alerts that other transactions have locked are left for the next run.
        return due >= CHANGE_BATCH && changed > 0
      })
      if (!signal.aborted) await alerts.pruneGroups()
    },
  }
}

/** Works on silences that have ended. */
function silenceEndJob(silences: Pick<Silences, 'settleEnded'>): Job {
  return {
    name: 'alert-silence-end',
    everyMs: CHANGE_EVERY_MS,
    run: (signal) => silences.settleEnded(signal),
  }
}

/** Removes recovered alerts and ended silences that are older than `keepMs`. */
export function alertPruneJob(
  alerts: Pick<Alerts, 'prune'>,
  silences: Pick<Silences, 'prune'>,
  { clock, keepMs }: { readonly clock: Clock; readonly keepMs: number },
): Job {
  return {
    name: 'alert-prune',
    everyMs: HOUR,
    async run(signal) {
      const before = clock.now() - keepMs
      await runBatches(signal, async () => (await alerts.prune(before, PRUNE_BATCH)) === PRUNE_BATCH)
      if (!signal.aborted) await silences.prune(before)
    },
  }
}

/** Updates the gauge of alerts. */
export function alertCountJob(alerts: Pick<Alerts, 'countByStatus'>, metrics: Metrics): Job {
  return countJob(metrics, {
    name: 'alert-count',
    gauge: { name: 'alerts', help: 'Alerts by status, counted every 30 s.' },
    label: 'status',
    values: ALERT_STATUSES,
    count: async () =>
      (await alerts.countByStatus()).map(({ status, alerts: count }) => [status, count] as const),
  })
}

/** The silence and the alert that suppress the notifications of an alert; read in the transaction of its change. */
export function createSuppressions(clock: Clock) {
  // A message may be about hundreds of alerts, which are judged in one transaction.
  const activeIn = new WeakMap<Tx, ReturnType<typeof listActive>>()
  return {
    /** The active silence that matches the alert. */
    async silencedBy(tx: Tx, alert: Alert) {
      const now = clock.now()
      const active = activeIn.get(tx) ?? listActive(tx, now)
      activeIn.set(tx, active)
      return silenceOf(alert, await active, now)
    },

    /** The alert that inhibits this one. */
    async inhibitedBy(tx: Tx, alert: Alert) {
      const alarmId = inhibitorIdOf(alert)
      const other = alarmId === undefined ? undefined : await shareAlert(tx, alarmId)
      const inhibitor = other && inhibitorOf(alert, [other])
      return inhibitor && { id: inhibitor.id, alarmId: inhibitor.alarmId ?? '' }
    },
  }
}
