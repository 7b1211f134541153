import { Tickets, type TicketDetails } from '../../src/domains/tickets/index.ts'
import { OLDEST_FIRST } from '../../src/kernel/page.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { inTransactions, testStores } from './store.ts'

export const FIRST_PAGE = { limit: 100 }
export const WHOLE_HISTORY = { limit: 1_000, order: OLDEST_FIRST }
/** The only user. */
export const USER_ID = 'ada'

/** The tickets of one process, and the events that it has committed. */
function ticketsOf(store: Store, clock: Clock) {
  const events: DomainEvent<TicketDetails>[] = []
  const service = new Tickets({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async (tx, event) => tx.afterCommit(() => events.push(event)) },
    userExists: async (_queries, userId) => userId === USER_ID,
    userIdsByNames: async (_queries, given) => given.filter((name) => name === USER_ID),
  })
  return { service, events, tickets: inTransactions(store, service, 'create', 'edit') }
}

/** Tickets on an empty database; `another` are those of another store on the same one. */
export async function ticketWorld(dialect: DialectName) {
  const clock = fakeClock()
  const stores = await testStores(dialect, clock)
  const { store, otherStore } = stores
  return {
    clock,
    store,
    ...ticketsOf(store, clock),
    another: ticketsOf(otherStore, clock),
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  }
}
