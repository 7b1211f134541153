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
    const processes = facts?.activity?.processes ?? []
    // One that hangs says nothing for three minutes.
    if (processes.length > 0 && !processes.some(({ modules }) => modules.includes('worker')))
      return [warning('processes', 'none of those that serve this database is a worker', REMEDY)]
    if (overdueMs === undefined) return [skipped('orders', 'needs the database')]
    if (overdueMs <= LATE_MS) return [fine('orders', 'none waits to expire')]
    const minutes = Math.floor(overdueMs / MINUTE)
    return [warning('orders', `one is pending ${minutes} min after its end: no worker expires it`, REMEDY)]
  },
}

const REMEDY =
  'start a worker (platform serve, or platform serve --module worker); if one runs, its log has the cause, and one that hangs needs a restart'

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
        ? warning(name, 'the provider has opened none of the last 5 payments', PAYMENT_REMEDY)
        : fine(name, 'its last payments do not all fail'),
    )
  },
}

const PAYMENT_REMEDY =
  'compare the keys in its secrets_file with those of the provider; the log has the answers of the provider'
