import { batchJob, runBatches, type Job } from '../../kernel/job.ts'
import { HOUR, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import type { PartSources } from './parts.ts'
import { RollUp, type RollUpDeps } from './roll-up.ts'
import { overviewRoutes } from './routes.ts'
import { Overview } from './service.ts'
import { names } from './tables.ts'

export { nightOf } from './parts.ts'
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
      service: overview,
      rollUp,
      routes: overviewRoutes(overview),
      jobs: { worker: [rollUpJob(rollUp), stepPruneJob(rollUp)] },
    } satisfies DomainParts & { rollUp: RollUp }
  },
})

const COUNT_EVERY_MS = 2 * SECOND
const PRUNE_BATCH = 500

/** Counts the events of orders, and samples each step of the series. */
export function rollUpJob(rollUp: Pick<RollUp, 'fold' | 'sample'>): Job {
  return {
    name: 'overview-roll-up',
    everyMs: COUNT_EVERY_MS,
    async run(signal) {
      await rollUp.sample()
      await runBatches(signal, () => rollUp.fold())
    },
  }
}

/** Removes the steps that are older than 31 days. */
function stepPruneJob(rollUp: Pick<RollUp, 'prune'>): Job {
  return batchJob('overview-prune', HOUR, async () => (await rollUp.prune(PRUNE_BATCH)) === PRUNE_BATCH)
}
