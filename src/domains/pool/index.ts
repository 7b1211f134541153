import type { Metrics } from '../../kernel/metrics.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { ALERTS_OF_POOL } from './model.ts'
import { poolUsageJob } from './jobs.ts'
import { poolRoutes } from './routes.ts'
import { AddressPool, type PoolDeps } from './service.ts'
import { names } from './tables.ts'

export { parseRange } from './addresses.ts'
export { encodePool } from './routes.ts'
export { AddressPool, type PoolDeps } from './service.ts'

/** The pool of virtual addresses, and who holds each of them (docs/specification.md, Gateway). */
export const poolDomain = defineDomain({
  name: 'pool',
  tables: names,
  events: {},
  errors: {},
  alerts: ALERTS_OF_POOL,
  create: (deps: PoolDeps & { readonly metrics: Metrics }) => {
    const pool = new AddressPool(deps)
    // One job for both modules: a process that runs both counts once.
    const usageJob = poolUsageJob(pool, deps.metrics)
    return {
      service: pool,
      routes: poolRoutes(pool),
      jobs: { api: [usageJob], gateway: [usageJob] },
    } satisfies DomainParts
  },
})
