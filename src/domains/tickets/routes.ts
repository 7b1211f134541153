import { ROLES } from '../../kernel/identity.ts'
import { OLDEST_FIRST } from '../../kernel/page.ts'
import { bodyWriter } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, type Answer, type Route, versioned, routeOf } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import type { TicketDetails } from './model.ts'
import {
  decodeNewTicket,
  decodeTicketEdit,
  encodeTicketComment,
  encodeTicket,
  encodeTicketChange,
  encodeTicketDetails,
  NewTicketBody,
  TicketComments,
  TicketDetailsSchema,
  TicketEditBody,
  TicketHistory,
  TicketSublistQuery,
  TicketPage,
  TicketQuery,
} from './schemas.ts'
import type { Tickets } from './service.ts'

const route = routeOf('Tickets')

const WRITERS = ['admin', 'service', 'devops'] as const

export const TICKET_ERRORS = {
  ticket_not_found: { status: 404, meaning: 'There is no such ticket.' },
} as const satisfies ErrorCodes

const textOf = bodyWriter(encodeTicketDetails)
const { ticket_not_found } = TICKET_ERRORS
const { invalid_transition, precondition_failed } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function ticketRoutes(tickets: Tickets): Route[] {
  return [
    route({
      method: 'POST',
      path: '/tickets',
      operation: 'createTicket',
      summary: 'Create a ticket',
      description:
        'If a ticket that is not closed has this `dedup_key`, the response is that ticket, unchanged.',
      access: WRITERS,
      body: NewTicketBody,
      answers: {
        201: versioned('The new ticket, open.', TicketDetailsSchema),
        200: versioned('The unclosed ticket with this `dedup_key`.', TicketDetailsSchema),
      },
      audit: { kind: 'ticket', changesWith: [201] },
      change: async (tx, { body, identity }) => {
        const { ticket, outcome } = await tickets.create(tx, decodeNewTicket(body), identity.id)
        return outcome === 'created'
          ? created('/tickets', ticket.id, textOf(ticket), entityTag(ticket.version))
          : ticketAnswer(ticket)
      },
    }),
    route({
      method: 'GET',
      path: '/tickets',
      operation: 'listTickets',
      summary: 'List tickets, newest first',
      description: 'Without descriptions and comments.',
      access: ROLES,
      query: TicketQuery,
      answers: { 200: { description: 'A page of tickets.', schema: TicketPage } },
      read: async ({ query }) => ok(encodePage(await tickets.list(query, parsePage(query)), encodeTicket)),
    }),
    route({
      method: 'GET',
      path: '/tickets/:id',
      operation: 'getTicket',
      summary: 'Read one ticket with its description and its newest comments',
      access: ROLES,
      params: IdParams,
      answers: {
        200: versioned('The ticket; `ETag` names its version.', TicketDetailsSchema),
      },
      errors: { ticket_not_found },
      read: async ({ params }) => ticketAnswer(await tickets.get(params.id)),
    }),
    route({
      method: 'GET',
      path: '/tickets/:id/comments',
      operation: 'listTicketComments',
      summary: 'Every comment of one ticket, newest first',
      access: ROLES,
      params: IdParams,
      query: TicketSublistQuery,
      answers: { 200: { description: 'A page of comments.', schema: TicketComments } },
      errors: { ticket_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await tickets.comments(params.id, parsePage(query)), encodeTicketComment)),
    }),
    route({
      method: 'GET',
      path: '/tickets/:id/history',
      operation: 'getTicketHistory',
      summary: 'Every change of one ticket, oldest first',
      access: ROLES,
      params: IdParams,
      query: TicketSublistQuery,
      answers: { 200: { description: 'The changes, from the creation on.', schema: TicketHistory } },
      errors: { ticket_not_found },
      read: async ({ params, query }) => {
        const history = await tickets.history(params.id, parsePage(query, OLDEST_FIRST))
        return ok(encodePage(history, encodeTicketChange))
      },
    }),
    route({
      method: 'PUT',
      path: '/tickets/:id',
      operation: 'editTicket',
      summary: 'Change a ticket, or comment on it',
      description:
        'At least one field. open → in_progress, resolved or closed; in_progress → open, resolved or closed; ' +
        'resolved → open or closed; closed → open. Setting a field to its current value changes ' +
        'nothing. With `If-Match` only that version is changed.',
      access: WRITERS,
      params: IdParams,
      body: TicketEditBody,
      // A repeated request would add its comment again.
      isRepeatable: false,
      answers: {
        200: versioned('The ticket after the change.', TicketDetailsSchema),
      },
      errors: { ticket_not_found, invalid_transition, precondition_failed },
      audit: {
        kind: 'ticket',
        before: async (tx, { params }) => textOf(await tickets.get(params.id, tx)),
      },
      change: async (tx, { params, body, identity, headers }) =>
        ticketAnswer(
          await tickets.edit(
            tx,
            params.id,
            decodeTicketEdit(body),
            identity.id,
            parseIfMatch(headers['if-match']),
          ),
        ),
    }),
  ]
}

function ticketAnswer(ticket: TicketDetails): Answer {
  return ok(textOf(ticket), entityTag(ticket.version))
}
