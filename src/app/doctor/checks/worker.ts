import { MINUTE } from '../../../kernel/time.ts'
import { fine, skipped, warning, type Check } from '../check.ts'

// deploy/prometheus: the alarm "orders do not expire".
const LATE_MS = MINUTE

/** Whether a worker runs: without one no order expires, no notification is sent and no backup is made. */
export const workerCheck: Check = {
  name: 'worker',
  modules: ['api', 'worker'],
  run: async ({ database }) => {
    const facts = await database().catch(() => undefined)
    const overdueMs = facts?.overdueOrderMs
    const processes = facts?.activity.processes ?? []
    // A worker that hangs is listed as serving for three more minutes.
    if (processes.length > 0 && !processes.some(({ modules }) => modules.includes('worker')))
      return [warning('processes', 'worker_missing')]
    if (overdueMs === undefined) return [skipped('orders', 'needs the database')]
    if (overdueMs <= LATE_MS) return [fine('orders', 'none waits to expire')]
    const minutes = Math.floor(overdueMs / MINUTE)
    return [warning('orders', 'orders_overdue', { minutes })]
  },
}

/** Whether a provider opens payments at all. */
export const paymentsCheck: Check = {
  name: 'payments',
  modules: ['api', 'worker'],
  run: async ({ database, loaded }) => {
    const { channels } = loaded.config.payments
    if (channels.length === 0) return [skipped('channels', 'none is configured')]
    const failing = (await database().catch(() => undefined))?.failingChannels
    if (failing === undefined) return [skipped('channels', 'needs the database')]
    return channels.map(({ name }) =>
      failing.includes(name)
        ? warning(name, 'payments_failing')
        : fine(name, 'its last payments do not all fail'),
    )
  },
}
