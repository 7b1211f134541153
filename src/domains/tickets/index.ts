import { ROLES } from '../../kernel/identity.ts'
import { countJob, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { TICKET_EVENTS, TICKET_LEVELS } from './model.ts'
import { TICKET_ERRORS, ticketRoutes } from './routes.ts'
import { encodeTicketDetails, TicketDetailsSchema } from './schemas.ts'
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
    return {
      tickets,
      routes: ticketRoutes(tickets),
      jobs: { api: [ticketCountJob(tickets, deps.metrics)] },
    } satisfies DomainParts & { tickets: Tickets }
  },
})

/** Updates the gauge of tickets. */
function ticketCountJob(tickets: Tickets, metrics: Metrics): Job {
  return countJob(metrics, {
    name: 'ticket-count',
    gauge: { name: 'tickets_unclosed', help: 'Tickets that are not closed, by level, counted every 30 s.' },
    label: 'level',
    values: TICKET_LEVELS,
    count: async () =>
      (await tickets.countUnclosed()).map(({ level, tickets: count }) => [level, count] as const),
  })
}
