import { ROLES } from '../../kernel/identity.ts'
import { countJob } from '../../kernel/job.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { TICKET_EVENTS, TICKET_LEVELS } from './model.ts'
import { encodeTicketDetails, TICKET_ERRORS, TicketDetailsSchema, ticketRoutes } from './routes.ts'
import { Tickets, type TicketDeps } from './service.ts'
import { names } from './tables.ts'

export type { NewTicket, Ticket, TicketDetails, TicketEdit } from './model.ts'
export { Tickets, type TicketDeps } from './service.ts'

/** Tickets, on which people work (docs/specification.md, Tickets). */
export const ticketsDomain = defineDomain({
  name: 'tickets',
  tables: names,
  events: TICKET_EVENTS,
  eventSchemas: { 'ticket.*': TicketDetailsSchema },
  eventReaders: ROLES,
  errors: TICKET_ERRORS,
  encodeEvent: encodeTicketDetails,
  create: (deps: TicketDeps) => {
    const tickets = new Tickets(deps)
    const countTickets = countJob(deps.metrics, {
      name: 'ticket-count',
      gauge: { name: 'tickets_unclosed', help: 'Tickets that are not closed, by level, counted every 30 s.' },
      label: 'level',
      values: TICKET_LEVELS,
      count: async () =>
        (await tickets.countUnclosed()).map(({ level, tickets: count }) => [level, count] as const),
    })
    return {
      service: tickets,
      routes: ticketRoutes(tickets),
      jobs: { api: [countTickets] },
    } satisfies DomainParts
  },
})
