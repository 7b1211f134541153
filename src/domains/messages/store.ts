import { sql, type RawBuilder } from 'kysely'
import { PUBLISHED_BYTES } from '../../kernel/bus.ts'
import { traceHeadersOfEvent } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { storedTraceHeaders } from '../../kernel/trace.ts'
import type { OutboxMessage } from '../../ports/outbox.ts'
import { continueAfter, numberAfterRestore } from '../../store/numbers.ts'
import type { Queries, Reads, Tx } from '../../store/store.ts'
import { BATCH_BYTES, countWithin, sizeOf } from '../../store/pages.ts'
import { isEventPayload, newMessage, type Message, type MessageStatus } from './model.ts'
import { messages, changeRow, changeRows, db, pages, readRow } from './tables.ts'

const SIZE = sizeOf('payload', 'headers')

/** Inserts no cause and no trace, because a restored database of an older schema does not have these columns. */
const insertNumbered = changeRows((on, message: Message, seq: number) => {
  const { cause: _cause, trace: _trace, ...values } = messages.values(message)
  return on.insertInto('messages').values({ ...values, seq })
})

/** The number of the newest message. */
const findNewestNumber = readRow(
  (on) => on.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(1),
  ({ seq }) => seq,
)

// After an outage there may be millions of messages; counting all of them at each scrape would take too long.
const COUNT_LIMIT = 100_000

/** The message that waits for the bus longest. */
export interface OldestPending {
  readonly subject: string
  readonly createdAt: number
  /** Why the last attempt has failed; null before the first one. */
  readonly lastError: string | null
}

/** Counts the messages of a status, up to 100,000, with the time when the oldest was written. */
const messageCounter = (status: 'pending' | 'dead') =>
  readRow((on) => {
    const selected = on.selectFrom('messages').where('status', '=', sql.lit(status)).orderBy('seq')
    return (
      on
        // The inner query reads only the index: a row may be a megabyte.
        .selectFrom(selected.select('seq').limit(COUNT_LIMIT).as('counted'))
        .select((row) => [
          row.fn.countAll<number>().as('messages'),
          selected.select('created_at').limit(1).as('oldest'),
        ])
    )
  })

export const countPendingMessages = messageCounter('pending')
export const countDeadMessages = messageCounter('dead')

/** How many messages are dead, counted up to `limit`, and the length of their payloads. */
export const readDeadSize = readRow((on, limit: number) =>
  on
    .selectFrom(
      on
        .selectFrom('messages')
        .select(sql<number>`octet_length(payload)`.as('bytes'))
        .where('status', '=', sql.lit('dead'))
        .orderBy('seq')
        .limit(limit)
        .as('counted'),
    )
    .select((row) => [
      row.fn.countAll<number>().as('messages'),
      row.fn.coalesce(row.fn.sum<number>('bytes'), sql.lit(0)).as('bytes'),
    ]),
)

export const insertMessage = changeRows((on, message: Message) =>
  on.insertInto('messages').values(messages.values(message)),
)

export const findMessage = readRow(
  (on, id: string) => on.selectFrom('messages').select(messages.except('seq')).where('id', '=', id),
  messages.decode,
)

/** The number of the newest message; 0 before the first one. */
export const NEWEST_NUMBER = sql<number>`coalesce((select max(seq) from messages), 0)`

// An installation writes far fewer messages in a millisecond.
const NUMBERS_PER_MS = 1_000

/**
 * Continues the numbers of a restored database above all that were given out before: they are the ids of the live stream,
 * and a client that resumes from a number must not take a new event for one that it has seen. Without a sequence, a row
 * has the number: a message that is no event, and is neither sent nor removed. Returns the number after which they continue.
 */
export async function continueNumbers(tx: Tx, now: number): Promise<number> {
  const seq = numberAfterRestore((await findNewestNumber(tx)) ?? 0, NUMBERS_PER_MS, now)
  const content = { id: newId(), subject: 'platform.data.restored', payload: '{}', headers: {} }
  const message: Message = { ...newMessage(content, now), status: 'delivered' }
  await continueAfter(tx, 'messages', seq, async () => {
    await insertNumbered(tx, message, seq)
  })
  return seq
}

/** Compare-and-set from `dead` to `pending`; undefined when the message is not dead. */
export const redriveMessage = readRow(
  (on, id: string) =>
    on
      .updateTable('messages')
      .set({ status: 'pending', last_error: null, cause: null })
      .where('id', '=', id)
      .where('status', '=', 'dead')
      .returning(messages.except('seq')),
  messages.decode,
)

export interface MessageFilter {
  readonly status?: MessageStatus
  readonly subject?: string
  /** Subjects that are left out, each exact or with `*` as its last part. */
  readonly hidden?: readonly string[]
}

const pageOfMessages = pages(
  { table: 'messages', createdAt: 'created_at', literals: ['status', 'hidden'], size: SIZE },
  (on) => on.selectFrom('messages').select(messages.all),
  {
    status: (query, status: MessageStatus) => query.where('status', '=', sql.lit(status)),
    subject: (query, subject: string) => query.where('subject', '=', subject),
    hidden: (query, hidden: string) => query.where(isNoneOf(hidden.split(' '))),
  },
  messages.decode,
)

/** Newest first. */
export function listMessages(
  queries: Reads,
  { hidden = [], ...filter }: MessageFilter,
  page: PageRequest,
): Promise<Page<Message>> {
  // An exact subject is judged before, and without this condition it has an index.
  const isRestricted = hidden.length > 0 && filter.subject === undefined
  return pageOfMessages(queries, isRestricted ? { ...filter, hidden: hidden.join(' ') } : filter, page)
}

function isNoneOf(hidden: readonly string[]) {
  const { patterns = [], subjects = [] } = Object.groupBy(hidden, (each) =>
    each.endsWith('*') ? 'patterns' : 'subjects',
  )
  const exact = sql.join(subjects.map((subject) => sql.lit(subject)))
  const conditions = [
    ...(subjects.length > 0 ? [sql<boolean>`subject not in (${exact})`] : []),
    ...patterns.map((pattern) => withoutPrefix(sql.lit(pattern.slice(0, -1)), pattern.length - 1)),
  ]
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** The oldest pending messages in the order of their delivery, except those on the subjects or patterns of `without`. */
export async function listPending(
  queries: Queries,
  limit: number,
  without: readonly string[],
): Promise<OutboxMessage[]> {
  const { patterns = [], subjects = [] } = Object.groupBy(without, (each) =>
    each.endsWith('.>') ? 'patterns' : 'subjects',
  )
  let query = db(queries).selectFrom('messages').where('status', '=', sql.lit('pending')).orderBy('seq')
  if (subjects.length > 0) query = query.where('subject', 'not in', subjects)
  for (const pattern of patterns)
    query = query.where(withoutPrefix(pattern.slice(0, -1), [...pattern].length - 1))
  const sizes = await query.select(SIZE.as('bytes')).limit(limit).execute()
  if (sizes.length === 0) return []
  const rows = await query
    .select(messages.pick('seq', 'id', 'subject', 'payload', 'headers', 'trace'))
    .limit(countWithin(sizes, PUBLISHED_BYTES))
    .execute()
  return rows.map((row) => {
    const { trace, ...message } = messages.decode(row)
    return {
      ...message,
      traceHeaders: isEventPayload(row) ? traceHeadersOfEvent(row.payload) : storedTraceHeaders(trace),
    }
  })
}

/**
 * Locks the messages that are still pending, and returns their numbers. Messages that another transaction has locked are
 * skipped, because a process that is suspended in `settle` keeps its locks until the database ends its transaction.
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
      cause: null,
      attempts: row('attempts', '+', 1),
    }))
    .where('seq', 'in', seqs)
    .where('status', '=', 'pending')
    .execute()
}

/** Records a failed attempt. Returns `false`, and changes nothing, when the message is not pending. */
export const markAttempt = changeRow(
  (on, attempt: Pick<Message, 'lastError' | 'cause' | 'status'> & { readonly seq: number }) =>
    on
      .updateTable('messages')
      .set((row) => ({
        status: attempt.status,
        attempts: row('attempts', '+', 1),
        ...messages.set(attempt, 'lastError', 'cause'),
      }))
      .where('seq', '=', attempt.seq)
      .where('status', '=', 'pending'),
)

/** When the bus confirmed a message: from `since` on and before `until`, in epoch milliseconds. */
export interface DeliverySpan {
  readonly since: number
  readonly until: number
}

/** A message that the bus has confirmed in this span, and that is still kept. */
export const findDelivered = readRow((on, span: DeliverySpan) =>
  on
    .selectFrom('messages')
    .select('seq')
    .where('status', '=', sql.lit('delivered'))
    .where('delivered_at', '>=', span.since)
    .where('delivered_at', '<', span.until)
    .limit(1),
)

/** Makes one batch of messages pending again that were delivered in this span, the oldest deliveries first; returns how many. */
export async function replayDelivered(
  tx: Tx,
  { since, until }: DeliverySpan,
  limit: number,
): Promise<number> {
  const delivered = await db(tx)
    .selectFrom('messages')
    .select(['seq', SIZE.as('bytes')])
    .where('status', '=', sql.lit('delivered'))
    .where('delivered_at', '>=', since)
    .where('delivered_at', '<', until)
    .orderBy('delivered_at')
    // The messages of one batch have the same time, and the order within a subject is that of `seq`.
    .orderBy('seq')
    .limit(limit)
    .execute()
  const seqs = seqsWithin(delivered)
  if (seqs.length === 0) return 0
  await db(tx)
    .updateTable('messages')
    .set({ status: 'pending', delivered_at: null })
    .where('seq', 'in', seqs)
    .where('status', '=', sql.lit('delivered'))
    .execute()
  return seqs.length
}

/** The numbers of the first rows that are changed, or removed, together. */
function seqsWithin(rows: readonly { readonly seq: number; readonly bytes: number }[]): number[] {
  return rows.slice(0, countWithin(rows, BATCH_BYTES)).map(({ seq }) => seq)
}

export const readOldestPending = readRow((on) =>
  on
    .selectFrom('messages')
    .select(['subject', 'created_at as createdAt', 'last_error as lastError'])
    .where('status', '=', sql.lit('pending'))
    .orderBy('seq')
    .limit(1),
)

/**
 * Removes one batch of messages that were delivered before `before`, and records it; returns how many. The newest message
 * is kept, because the number of the next one is derived from it.
 */
export async function deleteDelivered(tx: Tx, before: number, limit: number): Promise<number> {
  const old = await db(tx)
    .selectFrom('messages')
    .select(['seq', SIZE.as('bytes')])
    .where('delivered_at', '<', before)
    .where('seq', '<', (newest) =>
      newest.selectFrom('messages').select((row) => row.fn.max<number>('seq').as('seq')),
    )
    .orderBy('delivered_at')
    .limit(limit)
    .execute()
  const seqs = seqsWithin(old)
  if (seqs.length === 0) return 0
  await db(tx).deleteFrom('messages').where('seq', 'in', seqs).execute()
  await recordRemoval(tx, Math.max(...seqs))
  return seqs.length
}

const recordRemoval = changeRows((on, upTo: number) =>
  on
    .updateTable('event_logs')
    .set({ removed_up_to: upTo })
    .where('name', '=', 'messages')
    .where('removed_up_to', '<', upTo),
)

function withoutPrefix(prefix: string | RawBuilder<string>, length: number) {
  return sql<boolean>`substr(subject, 1, ${sql.lit(length)}) <> ${prefix}`
}
