import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { PositionedLog } from '../../ports/event-log.ts'
import type { DeadLetters } from '../../ports/outbox.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { TELEMETRY_ALERTS } from './alerts.ts'
import { TELEMETRY_EVENTS } from './events.ts'
import { telemetryAlertJob, telemetryPruneJob } from './jobs.ts'
import { TelemetryOutbox } from './outbox.ts'
import { TELEMETRY_ERRORS, telemetryRoutes } from './routes.ts'
import { encodeEvent, ItemEvent } from './schemas.ts'
import { Telemetry, type TelemetryDeps } from './service.ts'
import { names } from './tables.ts'

export type { Agent } from './model.ts'
export { TelemetryOutbox } from './outbox.ts'
export { Telemetry, type TelemetryDeps } from './service.ts'
export { continueUploadNumbers } from './store.ts'

/** What agents measure, with an outbox of its own (docs/specification.md, Telemetry). */
export const telemetryDomain = defineDomain({
  name: 'telemetry',
  tables: names,
  events: TELEMETRY_EVENTS,
  eventSchemas: { 'telemetry.agent.*': ItemEvent },
  eventReaders: ['admin', 'service', 'devops'],
  errors: TELEMETRY_ERRORS,
  alerts: TELEMETRY_ALERTS,
  encodeEvent,
  create: (
    deps: TelemetryDeps & { readonly alerts: RecoverableAlerts; readonly deadLetters: DeadLetters },
  ) => {
    const telemetry = new Telemetry(deps)
    const outbox = new TelemetryOutbox(deps)
    return {
      telemetry,
      outbox,
      log: outbox,
      routes: telemetryRoutes(telemetry, () => deps.clock.now()),
      jobs: { worker: [telemetryPruneJob(telemetry, deps.clock), telemetryAlertJob(outbox)] },
    } satisfies DomainParts & { telemetry: Telemetry; outbox: TelemetryOutbox; log: PositionedLog }
  },
})
