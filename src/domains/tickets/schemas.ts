import { Type } from 'typebox'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import {
  ContainedText,
  Fields,
  Id,
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
  type TicketEdit,
} from './model.ts'

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
const Assignee = { ...Text({ minLength: 1, maxLength: 64, description: 'Id of the user who works on it.' }) }
const CommentText = Text({ minLength: 1, maxLength: 4_096 })

const TICKET = {
  id: Id,
  title: Title,
  level: Level,
  status: Status,
  source: Nullable<string>({ ...Source }),
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

export const TicketPage = PageOf(TicketSchema)

const CommentSchema = Fields({
  id: Id,
  at: Timestamp,
  author: Type.String({ description: 'Id of the caller.' }),
  text: CommentText,
})

export const TicketComments = PageOf(CommentSchema)

export const TicketDetailsSchema = Fields(
  {
    ...TICKET,
    description: Nullable<string>({ ...Description }),
    comments: Type.Array(CommentSchema, {
      description: `The newest ${SHOWN_COMMENTS}, oldest first; \`comment_count\` counts all.`,
    }),
  },
  { $id: 'TicketDetails' },
)

export const NewTicketBody = Fields({
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

export const TicketEditBody = Type.Object(
  {
    status: Type.Optional(Status),
    level: Type.Optional(Level),
    title: Type.Optional(Title),
    comment: Type.Optional(CommentText),
    assignee: Type.Optional(Nullable<string>(Assignee)),
  },
  { additionalProperties: false, minProperties: 1 },
)

export const TicketQuery = Fields({
  status: Type.Optional(
    SeveralOf(
      [...TICKET_STATUSES, 'unclosed'],
      'Only tickets with this status; `unclosed`: every one but `closed`.',
    ),
  ),
  level: Type.Optional(Level),
  source: Type.Optional(Source),
  assignee: Type.Optional(Type.Unsafe<string>(Assignee)),
  mentioned: Type.Optional(
    Type.Unsafe<string>({ ...Assignee, description: 'Id of a user whom a comment mentions by `@name`.' }),
  ),
  text: Type.Optional(ContainedText('the title or the source')),
  ...TimedPageQuery,
})

/** The query of the comments, and of the history, of one ticket. */
export const TicketSublistQuery = Fields(TimedPageQuery)

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

export const TicketHistory = PageOf(HistoryEntry)

export const decodeNewTicket = decoderOf<NewTicket>(NewTicketBody)

export const decodeTicketEdit = decoderOf<TicketEdit>(TicketEditBody)

export const encodeTicket = encoderOf(TicketSchema)

/** One ticket in responses and events. */
export const encodeTicketDetails = encoderOf(TicketDetailsSchema)

export const encodeTicketComment = encoderOf(CommentSchema)

export const encodeTicketChange = encoderOf(HistoryEntry)
