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
