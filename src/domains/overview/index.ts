import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { rollUpJob, stepPruneJob } from './jobs.ts'
import type { PartSources } from './parts.ts'
import { RollUp, type RollUpDeps } from './roll-up.ts'
import { overviewRoutes } from './routes.ts'
import { Overview } from './service.ts'
import { names } from './tables.ts'

export { nightOf } from './night.ts'
export type { Drill, PartSources } from './parts.ts'

/** What the overview needs of the rest of the platform. */
export interface OverviewDeps extends RollUpDeps {
  /** The parts that other domains have; the orders are counted here. */
  readonly sources: Omit<PartSources, 'orders'> & { readonly orders: Pick<PartSources['orders'], 'readers'> }
}

/** The state of the whole platform, and its course (docs/specification.md, Overview). */
export const overviewDomain = defineDomain({
  name: 'overview',
  tables: names,
  events: {},
  errors: {},
  create: (deps: OverviewDeps) => {
    const rollUp = new RollUp(deps)
    const orders = { ...deps.sources.orders, read: () => rollUp.orders() }
    const overview = new Overview({ ...deps, rollUp, sources: { ...deps.sources, orders } })
    return {
      overview,
      rollUp,
      routes: overviewRoutes(overview),
      jobs: { worker: [rollUpJob(rollUp), stepPruneJob(rollUp)] },
    } satisfies DomainParts & { overview: Overview; rollUp: RollUp }
  },
})
