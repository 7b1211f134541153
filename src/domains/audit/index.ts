import type { Metrics } from '../../kernel/metrics.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { auditPruneJob, auditSealJob } from './jobs.ts'
import { AuditSeals, type AuditFiles } from './seals.ts'
import { auditRoutes } from './routes.ts'
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
      audit,
      seals,
      routes: auditRoutes(audit, seals),
      jobs: { worker: [auditSealJob(seals, metrics), auditPruneJob(seals, deps.clock, keepMs)] },
    } satisfies DomainParts & { audit: Audit; seals: AuditSeals }
  },
})
