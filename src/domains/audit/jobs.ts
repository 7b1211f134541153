import type { Clock } from '../../kernel/clock.ts'
import { runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import type { AuditSeals } from './seals.ts'

// docs/specification.md, Audit: at least every minute
const SEAL_EVERY_MS = 30 * SECOND

export function auditSealJob(seals: AuditSeals, metrics: Metrics): Job {
  const sealed = metrics.gauge({
    name: 'audit_sealed_rows',
    help: 'Rows of the audit trail that were ever sealed. A decrease means that its end was cut off, or the database replaced.',
  })
  return {
    name: 'audit-seal',
    everyMs: SEAL_EVERY_MS,
    gauges: [sealed],
    async run(signal) {
      sealed.set(await seals.seal(signal))
    },
  }
}

/** Removes whole sealed pages that are older than `keepMs`. */
export function auditPruneJob(seals: AuditSeals, clock: Clock, keepMs: number): Job {
  return {
    name: 'audit-prune',
    everyMs: HOUR,
    run: (signal) => runBatches(signal, () => seals.prune(clock.now() - keepMs)),
  }
}
