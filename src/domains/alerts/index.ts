import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { ALERT_EVENTS } from './events.ts'
import { noNotifications } from './occasion.ts'
import { ALERT_ERRORS, alertRoutes } from './routes.ts'
import { encodeAlert } from './schemas.ts'
import { Alerts, type AlertDeps } from './service.ts'
import { names } from './tables.ts'

export type { Alert, AlertLevel, AlertStatus, AlertView, AlertWeight, Report } from './model.ts'
export { noNotifications, type AlertNotifications, type AlertOccasion } from './occasion.ts'
export { Alerts, type AlertDeps } from './service.ts'

/** Alerts of the platform itself and of its clients (docs/specification.md, Alerts). */
export const alertsDomain = defineDomain({
  name: 'alerts',
  tables: names,
  events: ALERT_EVENTS,
  errors: ALERT_ERRORS,
  encodeEvent: encodeAlert,
  create: (deps: Omit<AlertDeps, 'notifications'>) => {
    const alerts = new Alerts({ ...deps, notifications: noNotifications })
    return { alerts, routes: alertRoutes(alerts), jobs: {} } satisfies DomainParts & { alerts: Alerts }
  },
})
