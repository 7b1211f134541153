import { sql } from 'kysely'
import { pageOf, type Page, type PageRequest } from '../../kernel/page.ts'
import type { OutboxMessage } from '../../ports/outbox.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { Message, MessageStatus } from './model.ts'
import { db, messages, statement } from './tables.ts'

const insert = statement<Message>((on, value) => on.insertInto('messages').values(messages.values(value)))

const find = statement<{ id: string }, StoredMessage>((on, value) =>
  on.selectFrom('messages').select(messages.except('seq')).where('id', '=', value('id')),
)

const revive = statement<{ id: string }, StoredMessage>((on, value) =>
  on
    .updateTable('messages')
    .set({ status: 'pending', last_error: null })
    .where('id', '=', value('id'))
    .where('status', '=', 'dead')
    .returning(messages.except('seq')),
)

/** A message whose headers are not decoded yet. */
type StoredMessage = Omit<Message, 'headers'> & { headers: string }

const fail = statement<{ seq: number; reason: string; status: MessageStatus }>((on, value) =>
  on
    .updateTable('messages')
    .set((row) => ({
      status: value('status'),
      attempts: row('attempts', '+', 1),
      last_error: value('reason'),
    }))
    .where('seq', '=', value('seq'))
    .where('status', '=', 'pending'),
)

// An outage may leave millions; counting them all at each scrape would take too long.
const COUNTED = 100_000

const backlog = statement<{ limit: number }, { pending: number; oldest: number | null }>((on, value) =>
  on
    .selectFrom(
      on
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

export async function insertMessage(tx: Tx, message: Message): Promise<void> {
  await tx.change(insert, message)
}

export async function findMessage(queries: Queries, id: string): Promise<Message | undefined> {
  const row = await first(queries, find, { id })
  return row && messages.decode(row)
}

/** Compare-and-set from `dead` to `pending`; undefined when the message is not dead. */
export async function reviveMessage(tx: Tx, id: string): Promise<Message | undefined> {
  const row = await first(tx, revive, { id })
  return row && messages.decode(row)
}

export interface MessageFilter {
  readonly status?: MessageStatus
  readonly subject?: string
}

/** Newest first. */
export async function listMessages(
  queries: Queries,
  { status, subject }: MessageFilter,
  { before, limit }: PageRequest,
): Promise<Page<Message>> {
  let query = db(queries).selectFrom('messages').select(messages.all).where('seq', '<', before)
  // Written out, so that the partial indexes of the two rare statuses serve.
  if (status) query = query.where('status', '=', sql.lit(status))
  if (subject) query = query.where('subject', '=', subject)
  const rows = await query
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute()
  return pageOf(rows.map(messages.decode), limit)
}

/** The oldest pending messages in the order in which they are sent, except those on some subjects or patterns. */
export async function listPending(
  queries: Queries,
  limit: number,
  without: readonly string[],
): Promise<OutboxMessage[]> {
  const { patterns = [], subjects = [] } = Object.groupBy(without, (each) =>
    each.endsWith('.>') ? 'patterns' : 'subjects',
  )
  let query = db(queries)
    .selectFrom('messages')
    .select(messages.pick('seq', 'id', 'subject', 'payload', 'headers'))
    .where('status', '=', sql.lit('pending'))
  if (subjects.length > 0) query = query.where('subject', 'not in', subjects)
  for (const pattern of patterns) query = query.where(withoutPrefix(pattern.slice(0, -1)))
  const rows = await query.orderBy('seq').limit(limit).execute()
  return rows.map(messages.decode)
}

/**
 * Which of these messages this transaction may settle: those that are pending and not locked by another transaction. A
 * process that was stopped in the middle of a settlement keeps its locks until the engine ends its transaction.
 */
export async function lockPending(tx: Tx, seqs: readonly number[]): Promise<Set<number>> {
  if (!tx.capabilities.concurrentWriters || seqs.length === 0) return new Set(seqs)
  const rows = await db(tx)
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

export async function markDelivered(tx: Tx, seqs: readonly number[], at: number): Promise<void> {
  if (seqs.length === 0) return
  await db(tx)
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

/** `false`, and nothing changes, when the message is not pending. */
export async function markAttempt(
  tx: Tx,
  seq: number,
  reason: string,
  status: 'pending' | 'dead',
): Promise<boolean> {
  return (await tx.change(fail, { seq, reason, status })) === 1
}

/** How many messages are pending (at most 100,000 are counted) and when the oldest was written. */
export async function readBacklog(queries: Queries): Promise<{ pending: number; oldest: number | null }> {
  return (await first(queries, backlog, { limit: COUNTED })) ?? { pending: 0, oldest: null }
}

/**
 * Removes one batch of messages that were delivered before that time; returns how many. The newest message stays, because
 * the next one is numbered above it.
 */
export async function deleteDelivered(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db(tx)
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

function withoutPrefix(prefix: string) {
  return sql<boolean>`substr(subject, 1, ${sql.lit([...prefix].length)}) <> ${prefix}`
}
