import { Type } from 'typebox'
import { ROLES } from '../../kernel/identity.ts'
import { OLDEST_FIRST } from '../../kernel/page.ts'
import { bodyWriter, decoderOf, encoderOf } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedPageQuery } from '../../wire/page.ts'
import { created, ok, routeOf, versioned, type Answer, type Route } from '../../wire/route.ts'
import {
  ContainedText,
  Fields,
  Id,
  IdParams,
  Nullable,
  NullableTimestamp,
  OneOf,
  SeveralOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import {
  SHOWN_COMMENTS,
  TICKET_LEVELS,
  TICKET_STATUSES,
  type FieldChanges,
  type NewTicket,
  type TicketDetails,
  type TicketEdit,
} from './model.ts'
import type { Tickets } from './service.ts'

const route = routeOf('Tickets')

const WRITERS = ['admin', 'service', 'devops'] as const

export const TICKET_ERRORS = {
  ticket_not_found: { status: 404, meaning: 'There is no such ticket.' },
} as const satisfies ErrorCodes

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
      audit: { kind: 'ticket', recordedStatuses: [201] },
      change: async (tx, { body, identity }) => {
        const { ticket, outcome } = await tickets.create(tx, decodeNewTicket(body), identity.id)
        if (outcome === 'unchanged') return ticketAnswer(ticket)
        return created('/tickets', ticket.id, textOf(ticket), entityTag(ticket.version))
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
      answers: { 200: { description: 'A page of tickets.', schema: PageOf(TicketSchema) } },
      read: async ({ query }) => ok(encodePage(await tickets.list(query, parsePage(query)), encodeTicket)),
    }),
    route({
      method: 'GET',
      path: '/tickets/:id',
      operation: 'getTicket',
      summary: 'Read one ticket with its description and its newest comments',
      access: ROLES,
      params: IdParams,
      answers: { 200: versioned('The ticket; `ETag` names its version.', TicketDetailsSchema) },
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
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'A page of comments.', schema: PageOf(CommentSchema) } },
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
      query: Fields(TimedPageQuery),
      answers: { 200: { description: 'The changes, from the creation on.', schema: PageOf(HistoryEntry) } },
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
      answers: { 200: versioned('The ticket after the change.', TicketDetailsSchema) },
      errors: { ticket_not_found, invalid_transition, precondition_failed },
      audit: { kind: 'ticket', before: async (tx, { params }) => textOf(await tickets.get(params.id, tx)) },
      change: async (tx, { params, body, identity, headers }) => {
        const versions = parseIfMatch(headers['if-match'])
        return ticketAnswer(await tickets.edit(tx, params.id, decodeTicketEdit(body), identity.id, versions))
      },
    }),
  ]
}

function ticketAnswer(ticket: TicketDetails): Answer {
  return ok(textOf(ticket), entityTag(ticket.version))
}

const Title = Text({ minLength: 1, maxLength: 200, examples: ['The shop does not answer'] })
const Level = OneOf(TICKET_LEVELS, 'How urgent the ticket is.')
const Status = OneOf(TICKET_STATUSES, 'The state of the work on the ticket.')
const Description = Text({ maxLength: 16_384 })
const Source = Text({
  minLength: 1,
  maxLength: 128,
  description: 'The system that the ticket is about.',
  examples: ['platform.backup'],
})
const UserId = (description: string) => Text({ minLength: 1, maxLength: 64, description })
const Assignee = UserId('Id of the user who works on it.')
const CommentText = Text({ minLength: 1, maxLength: 4_096 })

const TICKET = {
  id: Id,
  title: Title,
  level: Level,
  status: Status,
  source: Nullable<string>(Source),
  assignee: Nullable<string>(Assignee),
  comment_count: Type.Integer({ minimum: 0 }),
  created_by: Type.String({ description: 'Id of the caller.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  resolved_at: NullableTimestamp,
  closed_at: NullableTimestamp,
  version: Version,
}

const TicketSchema = Fields(TICKET, { $id: 'Ticket' })

const CommentSchema = Fields({
  id: Id,
  at: Timestamp,
  author: Type.String({ description: 'Id of the caller.' }),
  text: CommentText,
})

export const TicketDetailsSchema = Fields(
  {
    ...TICKET,
    description: Nullable<string>(Description),
    comments: Type.Array(CommentSchema, {
      description: `The newest ${SHOWN_COMMENTS}, oldest first; \`comment_count\` counts all.`,
    }),
  },
  { $id: 'TicketDetails' },
)

const NewTicketBody = Fields({
  title: Title,
  level: Level,
  description: Type.Optional(Description),
  source: Type.Optional(Source),
  assignee: Type.Optional(Nullable<string>(Assignee)),
  dedup_key: Type.Optional(
    Text({
      minLength: 1,
      maxLength: 128,
      description: 'While a ticket with this key is not closed, no other ticket with the key is created.',
      examples: ['backup.failed.critical'],
    }),
  ),
})

const TicketEditBody = Type.Object(
  {
    status: Type.Optional(Status),
    level: Type.Optional(Level),
    title: Type.Optional(Title),
    comment: Type.Optional(CommentText),
    assignee: Type.Optional(Nullable<string>(Assignee)),
  },
  { additionalProperties: false, minProperties: 1 },
)

const TicketQuery = Fields({
  status: Type.Optional(
    SeveralOf(
      [...TICKET_STATUSES, 'unclosed'],
      'Only tickets with this status; `unclosed`: every one but `closed`.',
    ),
  ),
  level: Type.Optional(Level),
  source: Type.Optional(Source),
  assignee: Type.Optional(Assignee),
  mentioned: Type.Optional(UserId('Id of a user whom a comment mentions by `@name`.')),
  text: Type.Optional(ContainedText('the title or the source')),
  ...TimedPageQuery,
})

const HistoryEntry = Fields({
  at: Timestamp,
  actor: Type.String({ description: 'Id of the caller.' }),
  changes: Type.Unsafe<FieldChanges>({
    type: 'object',
    additionalProperties: {
      type: 'array',
      items: { type: ['string', 'null'] },
      minItems: 2,
      maxItems: 2,
    },
    description: 'Each changed field with its value before and after: `{"status": ["open", "closed"]}`.',
  }),
})

const decodeNewTicket = decoderOf<NewTicket>(NewTicketBody)
const decodeTicketEdit = decoderOf<TicketEdit>(TicketEditBody)

/** One ticket in responses and events. */
export const encodeTicketDetails = encoderOf(TicketDetailsSchema)

const textOf = bodyWriter(encodeTicketDetails)
const encodeTicket = encoderOf(TicketSchema)
const encodeTicketComment = encoderOf(CommentSchema)
const encodeTicketChange = encoderOf(HistoryEntry)
