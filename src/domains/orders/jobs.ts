import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { formatCount } from '../../kernel/text.ts'
import { batchJob, countJob, runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { MINUTE } from '../../kernel/time.ts'
import { ORDER_STATUSES } from './model.ts'
import type { Orders } from './service.ts'

// A batch blocks the event loop for a few milliseconds; larger batches are not faster
// (docs/performance.md, P4: the expiry scan).
const EXPIRY_BATCH = 50
const ARCHIVE_BATCH = 100
const ARCHIVE_EVERY_MS = 10 * MINUTE

/** Expires overdue pending orders (docs/specification.md, Orders). */
export function orderTimeoutJob(orders: Orders, everyMs: number): Job {
  return {
    name: 'order-timeout',
    everyMs,
    run: async (signal) => void (await expireOverdue(orders, signal)),
  }
}

/** Expires overdue pending orders, batch by batch; returns how many. */
async function expireOverdue(orders: Pick<Orders, 'expireDue'>, signal: AbortSignal): Promise<number> {
  let total = 0
  await runBatches(signal, async () => {
    const { due, expired } = await orders.expireDue(EXPIRY_BATCH)
    total += expired
    // Orders that other transactions have locked are left for the next run.
    return due === EXPIRY_BATCH && expired > 0
  })
  return total
}

/** Moves orders that have ended long ago to the archive (docs/specification.md, Orders). */
export function orderArchiveJob(orders: Orders, archiveAfterMs: number): Job {
  const archiveBatch = () => orders.archiveEnded(archiveAfterMs, ARCHIVE_BATCH)
  return batchJob('order-archive', ARCHIVE_EVERY_MS, async () => (await archiveBatch()) === ARCHIVE_BATCH)
}

/** Updates the gauges of orders. */
export function orderCountJob(orders: Orders, metrics: Metrics): Job {
  const counting = countJob(metrics, {
    name: 'order-count',
    gauge: { name: 'orders', help: 'Orders by status, counted every 30 s.' },
    label: 'status',
    values: ORDER_STATUSES,
    count: async () => (await orders.countByStatus()).map(({ status, orders: count }) => [status, count]),
  })
  const overdue = metrics.gauge({
    name: 'orders_overdue_seconds',
    help: 'How long the longest overdue pending order is overdue; 0 if none is. Read every 30 s.',
  })
  // The metric is absent until the first run has read the value.
  overdue.clear()
  return {
    ...counting,
    gauges: [overdue, ...counting.gauges],
    async run(signal) {
      overdue.set((await orders.longestOverdueMs()) / 1_000)
      await counting.run(signal)
    },
  }
}

/** Expires overdue orders now, instead of at the next scan. */
export function expireDueCommand(orders: Pick<Orders, 'expireDue'>): BuiltInCommand {
  return builtInCommand({
    id: 'orders.expire-due',
    title: 'Expire overdue orders',
    description: 'Expires the pending orders whose time is over now, instead of at the next scan.',
    async run({ signal, print }) {
      print(`Expired ${formatCount(await expireOverdue(orders, signal), 'order')}.`)
    },
  })
}
