export type { AlertEvent } from './events.ts'
export type { Alert, AlertLevel, AlertStatus, AlertWeight, Report, Severity } from './model.ts'
export { alertRoutes } from './routes.ts'
export { createAlertService, type AlertDeps, type Alerts, type PlatformAlert } from './service.ts'
