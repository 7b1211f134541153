import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { ALERT_READERS } from './access.ts'
import { alertmanagerRoutes } from './alertmanager/routes.ts'
import { Alertmanager, type AlertmanagerDeps } from './alertmanager/service.ts'
import { ALERT_ERRORS } from './errors.ts'
import { ALERT_EVENTS } from './events.ts'
import { INTAKE_ALERTS } from './intake/alerts.ts'
import { intakeRoutes } from './intake/routes.ts'
import { alertCountJob, alertPruneJob, alertTimeJob, silenceEndJob } from './jobs.ts'
import { weightOf, type AlertView } from './model.ts'
import { explainAlert, explainReport, type RouteExplanation } from './notifications/explain.ts'
import { createNotifications, routingOf, type NotificationDeps } from './notifications/notifications.ts'
import { RECEIVER_ALERTS, type Receivers } from './notifications/receivers.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { names as notificationTables } from './notifications/tables.ts'
import { alertRoutes } from './routes.ts'
import { AlertSchema, encodeAlert, fromReportBody } from './schemas.ts'
import { Alerts, type AlertDeps } from './service.ts'
import { SILENCE_ALERTS, SILENCE_EVENTS } from './silences/events.ts'
import { SILENCE_READERS, silenceRoutes } from './silences/routes.ts'
import { encodeSilence, SilenceSchema } from './silences/schemas.ts'
import { Silences, type SilenceView } from './silences/service.ts'
import { names as silenceTables } from './silences/tables.ts'
import { createSuppressions } from './suppressions.ts'
import { names } from './tables.ts'

export type { Alert, AlertLevel, AlertStatus, AlertView, AlertWeight, Report } from './model.ts'
export { noNotifications, type AlertNotifications, type AlertOccasion } from './occasion.ts'
export { testReceiver, type Receiver } from './notifications/receivers.ts'
export { encodeAlertRoute } from './notifications/schemas.ts'
export type { RouteExplanation } from './notifications/explain.ts'
export { DUE_TABLES, restoreNotifications } from './restored.ts'
export { Alerts, type AlertDeps } from './service.ts'

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

/** Where a report in the form of `POST /alerts/report` would go now; throws `validation_failed` for a wrong one. */
export function routeOfReport(
  body: Parameters<typeof fromReportBody>[0],
  settings: Pick<NotificationDeps, 'receivers' | 'routing'>,
  now: number,
): RouteExplanation {
  const report = fromReportBody(body)
  return explainReport({ ...report, weight: weightOf(report) }, routingOf(settings), now)
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
    const lazyAlerts: RecoverableAlerts = {
      raise: (tx, alert) => alerts.raise(tx, alert),
      recoverIfRaised: (tx, alert) => alerts.recoverIfRaised(tx, alert),
    }
    const { notifier, receivers, routing, jobs, runners } = createNotifications({
      ...deps,
      suppressions,
      alerts: lazyAlerts,
      encodeAlert,
    })
    const alerts = new Alerts({ ...deps, notifications: notifier })
    const silences = new Silences({ ...deps, alerts })
    return {
      alerts,
      notices: receivers,
      explainRoute: async (id: string) =>
        explainAlert(deps.store.read, await alerts.get(id), { routing, now: deps.clock.now() }),
      routes: [
        ...alertRoutes(alerts),
        ...silenceRoutes(silences),
        ...notificationRoutes({ alerts, notifier, receivers, routing, store: deps.store, clock: deps.clock }),
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
      alerts: Alerts
      notices: Receivers
      explainRoute: (id: string) => Promise<RouteExplanation>
    }
  },
})
