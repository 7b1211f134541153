import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import type { AddressPool } from './service.ts'

const PERIOD_MS = 10 * SECOND

/** Counts the addresses for the metrics, and raises an alert when few are free. */
export function poolUsageJob(pool: AddressPool, metrics: Metrics): Job {
  const size = metrics.gauge({ name: 'vpn_pool_size', help: 'Addresses of the pool that can be leased.' })
  const free = metrics.gauge({
    name: 'vpn_pool_free',
    help: 'Addresses of the pool that are neither held nor cooling down, counted every 10 s.',
  })
  return {
    name: 'vpn-pool',
    everyMs: PERIOD_MS,
    gauges: [size, free],
    async run() {
      const usage = await pool.usage()
      size.set(usage.size)
      free.set(usage.free)
      await pool.updateAlert(usage)
      await pool.updateOtherAlerts()
    },
  }
}
