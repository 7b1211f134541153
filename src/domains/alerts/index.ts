import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { ALERT_EVENTS } from './events.ts'
import { intakeRoutes } from './intake/routes.ts'
import { createNotifications, type NotificationDeps } from './notifications/notifications.ts'
import { noSuppressions } from './notifications/notifier.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { names as notificationTables } from './notifications/tables.ts'
import { ALERT_ERRORS, ALERT_READERS, alertRoutes } from './routes.ts'
import { encodeAlert } from './schemas.ts'
import { Alerts, type AlertDeps } from './service.ts'
import { names } from './tables.ts'

export type { Alert, AlertLevel, AlertStatus, AlertView, AlertWeight, Report } from './model.ts'
export { noNotifications, type AlertNotifications, type AlertOccasion } from './occasion.ts'
export { Alerts, type AlertDeps } from './service.ts'

/** Alerts of the platform itself and of its clients (docs/specification.md, Alerts). */
export const alertsDomain = defineDomain({
  name: 'alerts',
  tables: [...names, ...notificationTables],
  events: ALERT_EVENTS,
  eventReaders: ALERT_READERS,
  errors: ALERT_ERRORS,
  encodeEvent: encodeAlert,
  create: (deps: Omit<AlertDeps, 'notifications'> & Omit<NotificationDeps, 'suppressions'>) => {
    const { notifier, runners } = createNotifications({ ...deps, suppressions: noSuppressions })
    const alerts = new Alerts({ ...deps, notifications: notifier })
    return {
      alerts,
      routes: [
        ...alertRoutes(alerts),
        ...notificationRoutes(alerts, notifier),
        ...intakeRoutes(alerts, deps.clock),
      ],
      jobs: {},
      runners,
    } satisfies DomainParts & { alerts: Alerts }
  },
})
