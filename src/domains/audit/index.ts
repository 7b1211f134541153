import type { Clock } from '../../kernel/clock.ts'
import { batchJob, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { auditRoutes } from './routes.ts'
import { AuditSeals, type AuditFiles } from './seals.ts'
import { Audit, type AuditDeps } from './service.ts'
import { names } from './tables.ts'

export { formatSeal, parseSeal, type TrailEntry, type AuditKeys, type AuditSeal } from './model.ts'
export { encodeEntry, parseTarget } from './routes.ts'
export type { AuditFault, AuditFiles, AuditVerdict } from './seals.ts'
export { recordEntry, type Audit, type TrailFilter } from './service.ts'

/** What the whole domain needs of the rest of the platform. */
export interface AuditDomainDeps extends AuditDeps {
  readonly metrics: Metrics
  readonly files: AuditFiles
  /** How long rows are kept, in milliseconds. */
  readonly keepMs: number
}

/** Who has changed what (docs/specification.md, Audit). */
export const auditDomain = defineDomain({
  name: 'audit',
  tables: names,
  events: {},
  errors: {},
  create: ({ metrics, files, keepMs, ...deps }: AuditDomainDeps) => {
    const audit = new Audit(deps)
    const seals = new AuditSeals({ ...deps, trail: audit, files })
    return {
      service: audit,
      seals,
      routes: auditRoutes(audit, seals),
      jobs: { worker: [auditSealJob(seals, metrics), auditPruneJob(seals, deps.clock, keepMs)] },
    } satisfies DomainParts & { seals: AuditSeals }
  },
})

// docs/specification.md, Audit: at least every minute
const SEAL_EVERY_MS = 30 * SECOND

function auditSealJob(seals: AuditSeals, metrics: Metrics): Job {
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
function auditPruneJob(seals: AuditSeals, clock: Clock, keepMs: number): Job {
  return batchJob('audit-prune', HOUR, () => seals.prune(clock.now() - keepMs))
}
