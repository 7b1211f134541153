import type { Clock } from '../../kernel/clock.ts'
import { batchJob, type Job } from '../../kernel/job.ts'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { PositionedLog } from '../../ports/events.ts'
import type { DeadLetters } from '../../ports/outbox.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { TELEMETRY_ALERTS, TELEMETRY_EVENTS } from './model.ts'
import { TelemetryOutbox } from './outbox.ts'
import { encodeEvent, ItemEvent, TELEMETRY_ERRORS, TELEMETRY_READERS, telemetryRoutes } from './routes.ts'
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
  eventReaders: TELEMETRY_READERS,
  errors: TELEMETRY_ERRORS,
  alerts: TELEMETRY_ALERTS,
  encodeEvent,
  create: (
    deps: TelemetryDeps & { readonly alerts: RecoverableAlerts; readonly deadLetters: DeadLetters },
  ) => {
    const telemetry = new Telemetry(deps)
    const outbox = new TelemetryOutbox(deps)
    return {
      service: telemetry,
      outbox,
      log: outbox,
      routes: telemetryRoutes(telemetry, () => deps.clock.now()),
      jobs: { worker: [telemetryPruneJob(telemetry, deps.clock), telemetryAlertJob(outbox)] },
    } satisfies DomainParts & { outbox: TelemetryOutbox; log: PositionedLog }
  },
})

// docs/specification.md, Telemetry
const KEEP_MS = HOUR
// Small batches let other writes run in between.
const BATCH = 500

/** Removes telemetry that was delivered more than an hour ago. */
export function telemetryPruneJob(telemetry: Pick<Telemetry, 'prune'>, clock: Clock): Job {
  const pruneBatch = () => telemetry.prune(clock.now() - KEEP_MS, BATCH)
  return batchJob('telemetry-prune', MINUTE, async () => (await pruneBatch()) > 0)
}

/** Ends the alert about refused telemetry also when nothing is sent. */
function telemetryAlertJob(outbox: Pick<TelemetryOutbox, 'endAlert'>): Job {
  return { name: 'telemetry-alert', everyMs: MINUTE, run: () => outbox.endAlert() }
}
