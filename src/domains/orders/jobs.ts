import type { Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'
import { ORDER_STATUSES } from './model.ts'
import type { Orders } from './service.ts'

// performance.md, P4: a batch holds the event loop for a few milliseconds; a larger one is no quicker in the end.
const BATCH = 50
const COUNT_EVERY_MS = 30 * SECOND

/** Expires the pending orders whose time is over (spec, Modules: worker, order timeout scan). */
export function orderTimeoutJob(orders: Orders, everyMs: number): Job {
  return {
    name: 'order-timeout',
    everyMs,
    async run(signal) {
      while (!signal.aborted) {
        const { found, expired } = await orders.expireDue(BATCH)
        // Orders that others hold are found again and again until they let go of them.
        if (found < BATCH || expired === 0) return
      }
    },
  }
}

/** Counts the orders of each status for the metrics of a process that shows them. */
export function orderCountJob(orders: Orders, metrics: Metrics): Job {
  const byStatus = metrics.gauge({
    name: 'orders',
    help: 'Orders by status, counted every 30 s.',
    labels: ['status'],
  })
  return {
    name: 'order-count',
    everyMs: COUNT_EVERY_MS,
    async run() {
      const counts = new Map(
        (await orders.countByStatus()).map(({ status, orders: count }) => [status, count]),
      )
      for (const status of ORDER_STATUSES) byStatus.set(counts.get(status) ?? 0, { status })
    },
  }
}
