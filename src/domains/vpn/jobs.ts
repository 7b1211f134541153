import type { Clock } from '../../kernel/clock.ts'
import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import type { Vpn } from './service.ts'

const UPKEEP_EVERY_MS = 5 * SECOND
const COUNT_EVERY_MS = 10 * SECOND
// A quarter of a year, for whoever has to find out what happened. 1,000 sessions a day make 2,000 lines a day, some
// 180,000 rows or 70 MB in all.
const KEEP_MS = 90 * DAY
// Deleting in batches lets other writes in between.
const BATCH = 500

/** Returns the addresses of dead gateways, and tells of a pool that is nearly used up. */
export function vpnUpkeepJob(vpn: Vpn): Job {
  return {
    name: 'vpn-upkeep',
    everyMs: UPKEEP_EVERY_MS,
    async run() {
      await vpn.reclaim()
      await vpn.watchPool()
    },
  }
}

/** Removes closed sessions and audit lines that are older than 90 days. */
export function vpnPruneJob(vpn: Vpn, clock: Clock): Job {
  return {
    name: 'vpn-prune',
    everyMs: HOUR,
    async run(signal) {
      while (!signal.aborted && (await vpn.prune(clock.now() - KEEP_MS, BATCH)));
    },
  }
}

/** Counts the addresses for the metrics of a process that shows them. */
export function vpnPoolJob(vpn: Vpn, metrics: Metrics): Job {
  const size = metrics.gauge({ name: 'vpn_pool_size', help: 'Addresses of the pool that can be leased.' })
  const free = metrics.gauge({
    name: 'vpn_pool_free',
    help: 'Addresses of the pool that are neither held nor cooling down, counted every 10 s.',
  })
  return {
    name: 'vpn-pool',
    everyMs: COUNT_EVERY_MS,
    gauges: [size, free],
    async run() {
      const usage = await vpn.pool()
      size.set(usage.size)
      free.set(usage.free)
    },
  }
}
