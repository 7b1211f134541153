import { sql } from 'kysely'
import type { NewRowOf } from '../../store/columns.ts'
import { contains, sizeOf, type ListFilter } from '../../store/pages.ts'
import type { Queries, Tx } from '../../store/store.ts'
import type { Ticket, TicketChange, TicketDetails, TicketLevel, TicketStatus } from './model.ts'
import { ticketChanges, tickets, changeRow, changeRows, db, lockable, pages, readRow } from './tables.ts'

/** A ticket with its description, without its comments, which are separate rows. */
export type DescribedTicket = Omit<TicketDetails, 'comments'>

export const insertTicket = changeRows((on, ticket: DescribedTicket) =>
  on.insertInto('tickets').values(tickets.values(ticket)),
)

/** Finds a ticket and locks it until the end of the transaction. */
export const [findTicket, lockTicket] = lockable((on, id: string) =>
  on.selectFrom('tickets').select(tickets.except('seq')).where('id', '=', id),
)

/** Writes a changed ticket; the transaction must have locked it. */
export const updateTicket = changeRows((on, ticket: Ticket) =>
  on
    .updateTable('tickets')
    .set(tickets.setExcept(ticket, 'id', 'description', 'source', 'dedupKey', 'createdBy', 'createdAt'))
    .where('id', '=', ticket.id),
)

export const insertTicketChange = changeRows((on, change: NewRowOf<typeof ticketChanges>) =>
  on.insertInto('ticket_changes').values(ticketChanges.values(change)),
)

const insertMention = changeRows((on, userId: string, ticketId: string) =>
  on
    .insertInto('ticket_mentions')
    .columns(['user_id', 'ticket_seq'])
    .expression((from) =>
      from
        .selectFrom('tickets')
        .select([sql<string>`${userId}`.as('user_id'), 'seq as ticket_seq'])
        .where('id', '=', ticketId),
    )
    .onConflict((conflict) => conflict.columns(['user_id', 'ticket_seq']).doNothing()),
)

/** Records that a comment of the ticket mentions these users; may be called twice. */
export async function insertMentions(tx: Tx, ticketId: string, userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) await insertMention(tx, userId, ticketId)
}

/** The comments of a ticket. */
export const listComments = pages(
  { table: 'ticket_changes', createdAt: 'at', size: sizeOf('comment') },
  (on) =>
    on
      .selectFrom('ticket_changes')
      // The condition excludes null.
      .select(['seq', 'id', 'at', 'actor as author', 'comment as text'])
      .$narrowType<{ text: string }>()
      .where('comment', 'is not', null),
  { ticketId: (query, ticketId: string) => query.where('ticket_id', '=', ticketId) },
  ({ seq: _seq, ...comment }) => comment,
)

/** The changes of a ticket. */
export const listTicketChanges = pages(
  { table: 'ticket_changes', createdAt: 'at', size: sizeOf('changes', 'comment') },
  (on) => on.selectFrom('ticket_changes').select(['seq', 'at', 'actor', 'changes', 'comment']),
  { ticketId: (query, ticketId: string) => query.where('ticket_id', '=', ticketId) },
  (row): TicketChange => {
    const { comment, changes, at, actor } = ticketChanges.decode(row)
    return { at, actor, changes: comment === null ? changes : { ...changes, comment: [null, comment] } }
  },
)

/** `false` when another unclosed ticket holds the key. Waits for a concurrent transaction that takes the same key. */
export const takeDedupKey = changeRow((on, key: string, ticketId: string) =>
  on
    .insertInto('ticket_dedup_keys')
    .values({ dedup_key: key, ticket_id: ticketId })
    .onConflict((conflict) => conflict.column('dedup_key').doNothing()),
)

export const releaseDedupKey = changeRows((on, key: string, ticketId: string) =>
  on.deleteFrom('ticket_dedup_keys').where('dedup_key', '=', key).where('ticket_id', '=', ticketId),
)

/** The unclosed ticket that holds a key. */
export const findKeyHolder = readRow((on, key: string) =>
  on
    .selectFrom('tickets')
    .select(tickets.except('seq'))
    .where('id', '=', (keys) =>
      keys.selectFrom('ticket_dedup_keys').select('ticket_id').where('dedup_key', '=', key),
    ),
)

/** Tickets without descriptions and comments. No ticket may have two of the statuses of a filter. */
export const listTickets = pages(
  { table: 'tickets', createdAt: 'created_at', literals: ['status'] },
  (on) => on.selectFrom('tickets').select(tickets.except('description')),
  {
    status: (query, status: TicketStatus | 'unclosed') =>
      status === 'unclosed' ? query.where('closed_at', 'is', null) : query.where('status', '=', status),
    level: (query, level: TicketLevel) => query.where('level', '=', level),
    source: (query, source: string) => query.where('source', '=', source),
    assignee: (query, assignee: string) => query.where('assignee', '=', assignee),
    /** A comment mentions the user. */
    mentioned: (query, userId: string) =>
      query.where('seq', 'in', (mentions) =>
        mentions.selectFrom('ticket_mentions').select('ticket_seq').where('user_id', '=', userId),
      ),
    text: contains('title', 'source'),
  },
)

export type TicketFilter = ListFilter<typeof listTickets>

/** The query that counts the unclosed tickets of each level; it reads one index. */
export function countUnclosed(queries: Queries) {
  return db(queries)
    .selectFrom('tickets')
    .select(['level', (each) => each.fn.countAll<number>().as('tickets')])
    .where(sql.ref('closed_at'), 'is', null)
    .groupBy('level')
}
