import { Tickets, type TicketDetails } from '../../src/domains/tickets/index.ts'
import { OLDEST_FIRST } from '../../src/kernel/page.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { domainWorld, type domainParts } from './domain-world.ts'
import { inTransactions } from './store.ts'

export const FIRST_PAGE = { limit: 100 }
export const WHOLE_HISTORY = { limit: 1_000, order: OLDEST_FIRST }
/** The only user. */
export const USER_ID = 'ada'

function ticketsOf({ deps }: ReturnType<typeof domainParts<TicketDetails>>) {
  const service = new Tickets({
    ...deps,
    userExists: async (_queries, userId) => userId === USER_ID,
    userIdsByNames: async (_queries, names) => names.filter((name) => name === USER_ID),
  })
  return { service, tickets: inTransactions(deps.store, service, 'create', 'edit') }
}

/** Tickets on an empty database. */
export function ticketWorld(dialect: DialectName) {
  return domainWorld(dialect, ticketsOf)
}
