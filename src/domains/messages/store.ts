import { sql, type Selectable } from 'kysely'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import { statement } from '../../store/statement.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { Message, MessageStatus } from './model.ts'
import type { MessagesTable } from './tables.ts'

type Row = Selectable<MessagesTable>

const insert = statement<Pick<Row, 'id' | 'subject' | 'payload' | 'headers' | 'created_at'>>((db, value) =>
  db.insertInto('messages').values({
    id: value('id'),
    subject: value('subject'),
    payload: value('payload'),
    headers: value('headers'),
    status: 'pending',
    attempts: 0,
    last_error: null,
    created_at: value('created_at'),
    delivered_at: null,
  }),
)

const find = statement<{ id: string }, Row>((db, value) =>
  db.selectFrom('messages').selectAll().where('id', '=', value('id')),
)

const revive = statement<{ id: string }, Row>((db, value) =>
  db
    .updateTable('messages')
    .set({ status: 'pending', last_error: null })
    .where('id', '=', value('id'))
    .where('status', '=', 'dead')
    .returningAll(),
)

const fail = statement<{ seq: number; reason: string; status: MessageStatus }>((db, value) =>
  db
    .updateTable('messages')
    .set((row) => ({
      status: value('status'),
      attempts: row('attempts', '+', 1),
      last_error: value('reason'),
    }))
    .where('seq', '=', value('seq'))
    .where('status', '=', 'pending'),
)

// Counting stops where the number says enough; an outage may leave millions.
const COUNTED = 100_000

const backlog = statement<{ limit: number }, { pending: number; oldest: number | null }>((db, value) =>
  db
    .selectFrom(
      db
        .selectFrom('messages')
        .select('created_at')
        .where('status', '=', sql.lit('pending'))
        .orderBy('seq')
        .limit(value('limit'))
        .as('waiting'),
    )
    .select((row) => [
      row.fn.countAll<number>().as('pending'),
      row.fn.min<number | null>('created_at').as('oldest'),
    ]),
)

export async function insertMessage(
  tx: Tx,
  message: Pick<Message, 'id' | 'subject' | 'payload' | 'createdAt'> & { headers: string },
): Promise<void> {
  const { id, subject, payload, headers, createdAt } = message
  await tx.change(insert, { id, subject, payload, headers, created_at: createdAt })
}

export async function findMessage(queries: Queries, id: string): Promise<Message | undefined> {
  const row = await first(queries, find, { id })
  return row && fromRow(row)
}

/** Compare-and-set from `dead` to `pending`; undefined when the message is not dead. */
export async function reviveMessage(tx: Tx, id: string): Promise<Message | undefined> {
  const row = await first(tx, revive, { id })
  return row && fromRow(row)
}

export interface MessageFilter {
  readonly status?: MessageStatus
  readonly subject?: string
}

/** Newest first. */
export async function listMessages(
  { db }: Queries,
  filter: MessageFilter,
  page: PageRequest,
): Promise<Page<Message>> {
  const { status, subject } = filter
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    // Written out, so that the partial indexes of the two rare states serve.
    .$if(status !== undefined, (query) => query.where('status', '=', sql.lit(status as MessageStatus)))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject as string))
    .where('seq', '<', page.before)
    .orderBy('seq', 'desc')
    .limit(page.limit + 1)
    .execute()
  return pageOf(rows, page.limit, fromRow)
}

/** A message with its place in the order of its subject. */
export type PendingMessage = Message & { readonly seq: number }

/** The oldest messages that wait, in the order in which they go out. */
export async function listPending(
  { db }: Queries,
  limit: number,
  withoutSubjects: readonly string[],
): Promise<PendingMessage[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('status', '=', sql.lit('pending'))
    .$if(withoutSubjects.length > 0, (query) => query.where('subject', 'not in', withoutSubjects))
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ seq: row.seq, ...fromRow(row) }))
}

/**
 * Which of these messages this transaction may settle: those that wait, and that no other transaction holds. A
 * process that was stopped in the middle of a settlement may hold some for as long as the engine lets it.
 */
export async function lockPending({ db, capabilities }: Tx, seqs: readonly number[]): Promise<Set<number>> {
  if (!capabilities.concurrentWriters || seqs.length === 0) return new Set(seqs)
  const rows = await db
    .selectFrom('messages')
    .select('seq')
    .where('seq', 'in', seqs)
    .where('status', '=', 'pending')
    .orderBy('seq')
    .forUpdate()
    .skipLocked()
    .execute()
  return new Set(rows.map(({ seq }) => seq))
}

export async function markDelivered({ db }: Tx, seqs: readonly number[], at: number): Promise<void> {
  if (seqs.length === 0) return
  await db
    .updateTable('messages')
    .set((row) => ({
      status: 'delivered',
      delivered_at: at,
      last_error: null,
      attempts: row('attempts', '+', 1),
    }))
    .where('seq', 'in', seqs)
    .where('status', '=', 'pending')
    .execute()
}

/** Answers `false`, and changes nothing, when the message does not wait any more. */
export async function markAttempt(
  tx: Tx,
  seq: number,
  reason: string,
  status: 'pending' | 'dead',
): Promise<boolean> {
  return (await tx.change(fail, { seq, reason, status })) === 1
}

/** How many wait (at most 100,000 are counted) and since when the oldest does. */
export async function readBacklog(queries: Queries): Promise<{ pending: number; oldest: number | null }> {
  return (await first(queries, backlog, { limit: COUNTED })) ?? { pending: 0, oldest: null }
}

/**
 * Removes one batch of messages that were delivered before that time, never the newest one, by which the next is
 * numbered; answers how many.
 */
export async function deleteDelivered({ db }: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('messages')
    .where('seq', 'in', (of) =>
      of
        .selectFrom('messages')
        .select('seq')
        .where('delivered_at', '<', before)
        .where('seq', '<', (newest) =>
          newest.selectFrom('messages').select((row) => row.fn.max<number>('seq').as('seq')),
        )
        .orderBy('delivered_at')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

function fromRow(row: Row): Message {
  return {
    id: row.id,
    subject: row.subject,
    payload: row.payload,
    headers: JSON.parse(row.headers) as Record<string, string>,
    status: row.status,
    attempts: row.attempts,
    lastError: row.last_error,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
  }
}
