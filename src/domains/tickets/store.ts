import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import type { NewRowOf } from '../../store/columns.ts'
import { contains, eachStatus, sizeOf } from '../../store/pages.ts'
import { first, type Queries, type Reads, type Tx } from '../../store/store.ts'
import type { Comment, Ticket, TicketChange, TicketDetails, TicketLevel, TicketStatus } from './model.ts'
import { db, lockable, pages, statement, ticketChanges, tickets } from './tables.ts'

/** A ticket with its description, without its comments, which are separate rows. */
type TicketRow = Omit<TicketDetails, 'comments'>

const insert = statement<TicketRow>((on, value) => on.insertInto('tickets').values(tickets.values(value)))

const [find, lock] = lockable<{ id: string }, TicketRow>((on, value) =>
  on.selectFrom('tickets').select(tickets.except('seq')).where('id', '=', value('id')),
)

const update = statement<Ticket>((on, value) =>
  on
    .updateTable('tickets')
    .set(
      tickets.set(
        value,
        'title',
        'level',
        'status',
        'assignee',
        'commentCount',
        'updatedAt',
        'resolvedAt',
        'closedAt',
        'version',
      ),
    )
    .where('id', '=', value('id')),
)

const insertChange = statement<NewRowOf<typeof ticketChanges>>((on, value) =>
  on.insertInto('ticket_changes').values(ticketChanges.values(value)),
)

const takeKey = statement<{ key: string; ticketId: string }>((on, value) =>
  on
    .insertInto('ticket_dedup_keys')
    .values({ dedup_key: value('key'), ticket_id: value('ticketId') })
    .onConflict((conflict) => conflict.column('dedup_key').doNothing()),
)

const findByKey = statement<{ key: string }, TicketRow>((on, value) =>
  on
    .selectFrom('tickets')
    .select(tickets.except('seq'))
    .where('id', '=', (keys) =>
      keys.selectFrom('ticket_dedup_keys').select('ticket_id').where('dedup_key', '=', value('key')),
    ),
)

const releaseKey = statement<{ key: string; ticketId: string }>((on, value) =>
  on
    .deleteFrom('ticket_dedup_keys')
    .where('dedup_key', '=', value('key'))
    .where('ticket_id', '=', value('ticketId')),
)

const insertMention = statement<{ userId: string; ticketId: string }>((on, value) =>
  on
    .insertInto('ticket_mentions')
    .columns(['user_id', 'ticket_seq'])
    .expression((from) =>
      from
        .selectFrom('tickets')
        .select([sql<string>`${value('userId')}`.as('user_id'), 'seq as ticket_seq'])
        .where('id', '=', value('ticketId')),
    )
    .onConflict((conflict) => conflict.columns(['user_id', 'ticket_seq']).doNothing()),
)

export async function insertTicket(tx: Tx, ticket: TicketRow): Promise<void> {
  await tx.change(insert, ticket)
}

export function findTicket(queries: Queries, id: string): Promise<TicketRow | undefined> {
  return first(queries, find, { id })
}

/** Finds a ticket and locks it until the end of the transaction. */
export function lockTicket(tx: Tx, id: string): Promise<TicketRow | undefined> {
  return first(tx, lock, { id })
}

/** Writes a changed ticket; the transaction must have locked it. */
export async function updateTicket(tx: Tx, ticket: Ticket): Promise<void> {
  await tx.change(update, ticket)
}

export interface ChangeRecord extends TicketChange {
  readonly id: string
  readonly ticketId: string
}

export async function insertTicketChange(tx: Tx, { changes, ...record }: ChangeRecord): Promise<void> {
  const { comment, ...others } = changes
  await tx.change(insertChange, { ...record, changes: others, comment: comment?.[1] ?? null })
}

/** Keeps that a comment of the ticket mentions these users; repeatable. */
export async function insertMentions(tx: Tx, ticketId: string, userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) await tx.change(insertMention, { userId, ticketId })
}

const pageOfComments = pages(
  { table: 'ticket_changes', createdAt: 'at', size: sizeOf('comment') },
  (on) =>
    on
      .selectFrom('ticket_changes')
      // The condition excludes null.
      .select(['seq', 'id', 'at', 'actor as author', 'comment as text'])
      .$narrowType<{ text: string }>()
      .where('comment', 'is not', null),
  { ticketId: (query, ticketId: string) => query.where('ticket_id', '=', ticketId) },
)

/** The comments of a ticket, newest first. */
export async function listComments(
  queries: Queries,
  ticketId: string,
  page: PageRequest,
): Promise<Page<Comment>> {
  return mapPage(await pageOfComments(queries, { ticketId }, page), ({ seq: _seq, ...comment }) => comment)
}

const pageOfChanges = pages(
  { table: 'ticket_changes', createdAt: 'at', size: sizeOf('changes', 'comment') },
  (on) => on.selectFrom('ticket_changes').select(['seq', 'at', 'actor', 'changes', 'comment']),
  { ticketId: (query, ticketId: string) => query.where('ticket_id', '=', ticketId) },
)

/** The changes of a ticket. */
export async function listTicketChanges(
  queries: Queries,
  ticketId: string,
  page: PageRequest,
): Promise<Page<TicketChange>> {
  return mapPage(await pageOfChanges(queries, { ticketId }, page), toChange)
}

function toChange({ seq: _seq, ...row }: HistoryRow): TicketChange {
  const { comment, ...change } = ticketChanges.decode(row)
  if (comment === null) return change
  return { ...change, changes: { ...change.changes, comment: [null, comment] } }
}

interface HistoryRow {
  seq: number
  at: number
  actor: string
  changes: string
  comment: string | null
}

/** `false` when another unclosed ticket holds the key. Waits for a concurrent transaction that takes the same key. */
export async function takeDedupKey(tx: Tx, key: string, ticketId: string): Promise<boolean> {
  return (await tx.change(takeKey, { key, ticketId })) === 1
}

export async function releaseDedupKey(tx: Tx, key: string, ticketId: string): Promise<void> {
  await tx.change(releaseKey, { key, ticketId })
}

/** The unclosed ticket that holds a key. */
export function findKeyHolder(queries: Queries, key: string): Promise<TicketRow | undefined> {
  return first(queries, findByKey, { key })
}

type TicketFilterStatus = TicketStatus | 'unclosed'

export interface TicketFilter {
  readonly status?: TicketFilterStatus | readonly TicketFilterStatus[]
  readonly level?: TicketLevel
  readonly source?: string
  readonly assignee?: string
  /** Id of a user whom a comment mentions. */
  readonly mentioned?: string
  /** Contained in the title or in the source. */
  readonly text?: string
}

const readTickets = pages(
  { table: 'tickets', createdAt: 'created_at' },
  (on) => on.selectFrom('tickets').select(tickets.except('description')),
  {
    status: (query, status: TicketStatus) => query.where('status', '=', status),
    unclosed: (query, _: true) => query.where('closed_at', 'is', null),
    level: (query, level: TicketLevel) => query.where('level', '=', level),
    source: (query, source: string) => query.where('source', '=', source),
    assignee: (query, assignee: string) => query.where('assignee', '=', assignee),
    mentioned: (query, userId: string) =>
      query.where('seq', 'in', (own) =>
        own.selectFrom('ticket_mentions').select('ticket_seq').where('user_id', '=', userId),
      ),
    text: contains('title', 'source'),
  },
)

/** Newest first, without descriptions and comments. */
export function listTickets(on: Reads, { status = [], ...others }: TicketFilter, page: PageRequest) {
  const statuses = [status].flat()
  // No ticket may be in two of the filters.
  const distinct = statuses.includes('unclosed')
    ? statuses.filter((each) => each === 'unclosed' || each === 'closed')
    : statuses
  const filters = eachStatus({ ...others, ...(distinct.length > 0 && { status: distinct }) })
  return readTickets(on, filters.map(withIndexOfUnclosed), page)
}

/** A query has the same form for each value of a filter, and this value has an index of its own. */
function withIndexOfUnclosed<Others extends object>({
  status,
  ...others
}: Others & { readonly status?: TicketFilterStatus }) {
  return status === 'unclosed' ? { ...others, unclosed: true as const } : { ...others, status }
}

/** The query that counts the unclosed tickets of each level; it reads one index. */
export function countUnclosed(queries: Queries) {
  return db(queries)
    .selectFrom('tickets')
    .select(['level', (each) => each.fn.countAll<number>().as('tickets')])
    .where(sql.ref('closed_at'), 'is', null)
    .groupBy('level')
}
