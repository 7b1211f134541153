import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import type { TelemetryOutbox } from './outbox.ts'
import type { Telemetry } from './service.ts'

// docs/specification.md, Telemetry
const KEEP_MS = HOUR
// Small batches let other writes run in between.
const BATCH = 500

/** Removes telemetry that was delivered more than an hour ago. */
export function telemetryPruneJob(telemetry: Pick<Telemetry, 'prune'>, clock: Clock): Job {
  return {
    name: 'telemetry-prune',
    everyMs: MINUTE,
    run: (signal) =>
      runBatches(signal, async () => (await telemetry.prune(clock.now() - KEEP_MS, BATCH)) > 0),
  }
}

/** Ends the alert about refused telemetry also when nothing is sent. */
export function telemetryAlertJob(outbox: Pick<TelemetryOutbox, 'endAlert'>): Job {
  return { name: 'telemetry-alert', everyMs: MINUTE, run: () => outbox.endAlert() }
}
