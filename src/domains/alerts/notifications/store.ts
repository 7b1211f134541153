import { sql, type ExpressionBuilder } from 'kysely'
import { counted } from '../../../kernel/counted.ts'
import type { Page, PageRequest } from '../../../kernel/page.ts'
import type { BucketState } from '../../../kernel/token-bucket.ts'
import type { NewRowOf, RowOf, TableOf } from '../../../store/columns.ts'
import { lockRows } from '../../../store/locking.ts'
import { first, type Queries, type Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work-queue.ts'
import type { Decided, Decision, OccasionKind, Outcome, Waiting } from './model.ts'
import { channelMessages, channels, db, notifications, pages, statement } from './tables.ts'

type NewNotification = NewRowOf<typeof notifications>
/** A message that the sender works on. */
export type ChannelWork = RowOf<typeof channelMessages>

/** The outcomes of a notification that was pushed, or will be. */
const PUSHED = ['pending', 'sent', 'bundled'] as const satisfies readonly Outcome[]
const PUSHED_LITERALS = PUSHED.map((outcome) => sql.lit(outcome))
// A query takes at most 32,766 parameters on SQLite; a message has room for fewer notifications than this.
const MAX_CANDIDATES = 1_000
// After an outage there may be very many; counting them all at each scrape would take too long.
const COUNT_LIMIT = 100_000

const DECISION = notifications.pick('id', 'at', 'occasion', 'channel', 'outcome', 'reason')
const WAITING = notifications.pick('seq', 'id', 'alertId', 'at', 'occasion', 'weight', 'source', 'content')

export const messageQueue = new WorkQueue('alert_messages', channelMessages)

const latestSeq = (
  row: ExpressionBuilder<{ alert_notifications: TableOf<typeof notifications> }, 'alert_notifications'>,
) => row.fn.coalesce(row.fn.max<number>('seq'), sql<number>`0`).as('seq')

const insert = statement<NewNotification>((on, value) =>
  on.insertInto('alert_notifications').values(notifications.values(value)),
)

const earlier = statement<{ alertId: string; before: number }, Decided>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select(notifications.pick('outcome', 'reason'))
    .where('alert_id', '=', value('alertId'))
    .where('seq', '<', value('before'))
    .where('seq', '>', (recovery) =>
      recovery
        .selectFrom('alert_notifications')
        .select(latestSeq)
        .where('alert_id', '=', value('alertId'))
        .where('seq', '<', value('before'))
        .where('weight', '=', sql.lit(0))
        // A freeze is not the end of an alert, even if the alert has recovered by the swing that caused it.
        .where('occasion', '<>', sql.lit('frozen'))
        .where('outcome', 'in', PUSHED_LITERALS),
    )
    .orderBy((row) => row.case().when('outcome', 'in', PUSHED_LITERALS).then(0).else(1).end())
    .orderBy('seq', 'desc')
    .limit(1),
)

const sameInFreeze = statement<
  { alertId: string; occasion: OccasionKind; outcome: Outcome },
  { seq: number }
>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select('seq')
    .where('alert_id', '=', value('alertId'))
    .where('occasion', '=', value('occasion'))
    .where('outcome', '=', value('outcome'))
    .where('seq', '>', (freeze) =>
      freeze
        .selectFrom('alert_notifications')
        .select(latestSeq)
        .where('alert_id', '=', value('alertId'))
        .where('occasion', '=', sql.lit('frozen')),
    )
    .limit(1),
)

const pendingCount = statement<{ limit: number }, { pending: number }>((on, value) =>
  on
    .selectFrom(
      on
        .selectFrom('alert_notifications')
        .select('seq')
        .where('outcome', '=', sql.lit('pending'))
        .limit(value('limit'))
        .as('waiting'),
    )
    .select((row) => row.fn.countAll<number>().as('pending')),
)

const insertMessage = statement<ChannelWork>((on, value) =>
  on.insertInto('alert_messages').values(channelMessages.values(value)),
)

const saveRate = statement<{ name: string; rate: string }>((on, value) =>
  on
    .updateTable('alert_channels')
    .set({ rate: value('rate') })
    .where('name', '=', value('name')),
)

const decideMessage = statement<Decided & { messageId: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ outcome: value('outcome'), reason: value('reason'), content: null })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending')),
)

const decideOne = statement<Decided & { id: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ outcome: value('outcome'), reason: value('reason'), content: null, message_id: null })
    .where('id', '=', value('id'))
    .where('outcome', '=', sql.lit('pending')),
)

const giveUp = statement<{ messageId: string; before: number }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({
      outcome: 'failed',
      // Until now it says why the last attempt has failed.
      reason: sql<string>`'Given up after 24 hours. ' || coalesce(reason, 'The last attempt has not ended.')`,
      content: null,
    })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending'))
    .where('at', '<=', value('before')),
)

const unbundle = statement<{ messageId: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ message_id: null })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending')),
)

const explain = statement<{ messageId: string; reason: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ reason: value('reason') })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending')),
)

const markRefused = statement<{ id: string; isRefused: number }>((on, value) =>
  on
    .updateTable('alert_messages')
    .set({ is_refused: value('isRefused') })
    .where('id', '=', value('id')),
)

const setContent = statement<Pick<ChannelWork, 'id' | 'title' | 'text' | 'level'>>((on, value) =>
  on
    .updateTable('alert_messages')
    .set(channelMessages.set(value, 'title', 'text', 'level'))
    .where('id', '=', value('id')),
)

const removeMessage = statement<{ id: string }>((on, value) =>
  on.deleteFrom('alert_messages').where('id', '=', value('id')),
)

export async function insertNotification(tx: Tx, notification: NewNotification): Promise<void> {
  await tx.change(insert, notification)
}

/** See `Facts.earlier`; of the decisions before that number. */
export function findEarlier(
  queries: Queries,
  alertId: string,
  before = Number.MAX_SAFE_INTEGER,
): Promise<Decided | undefined> {
  return first(queries, earlier, { alertId, before })
}

/** Whether the alert has that decision on that occasion since it was frozen last. */
export async function isDecidedInFreeze(
  queries: Queries,
  alertId: string,
  { occasion, outcome }: { readonly occasion: OccasionKind; readonly outcome: Outcome },
): Promise<boolean> {
  return (await first(queries, sameInFreeze, { alertId, occasion, outcome })) !== undefined
}

const pageOfDecisions = pages(
  { table: 'alert_notifications', createdAt: 'at' },
  (on) => on.selectFrom('alert_notifications').select([...DECISION, 'seq']),
  { alertId: (query, alertId: string) => query.where('alert_id', '=', alertId) },
)

/** The decisions on an alert, newest first. */
export function listDecisions(queries: Queries, alertId: string, page: PageRequest): Promise<Page<Decision>> {
  return pageOfDecisions(queries, { alertId }, page)
}

/** How many notifications are pending, counted up to 100,000. */
export async function countPending(queries: Queries): Promise<number> {
  return (await first(queries, pendingCount, { limit: COUNT_LIMIT }))?.pending ?? 0
}

/** Locks a channel, so that only one process at a time claims messages for it; returns the state of its rate limit. */
export async function lockChannel(tx: Tx, name: string): Promise<BucketState | undefined> {
  const row = await db(tx)
    .selectFrom('alert_channels')
    .select('rate')
    .where('name', '=', name)
    .$call(lockRows(tx.capabilities))
    .executeTakeFirstOrThrow()
  return channels.decode(row).rate ?? undefined
}

export async function saveChannel(tx: Tx, name: string, rate: BucketState): Promise<void> {
  await tx.change(saveRate, { name, rate: JSON.stringify(rate) })
}

/** The messages that are being sent, or wait for another attempt. */
export async function listUnsent(queries: Queries): Promise<ChannelWork[]> {
  const rows = await db(queries).selectFrom('alert_messages').select(channelMessages.all).execute()
  return rows.map((row) => channelMessages.decode(row))
}

/** Notifications that no message contains yet, oldest first, always including those of CRITICAL alerts. */
export async function listWaiting(queries: Queries): Promise<Waiting[]> {
  const waiting = db(queries)
    .selectFrom('alert_notifications')
    .select(WAITING)
    .where('outcome', '=', sql.lit('pending'))
    .where('message_id', 'is', null)
    .orderBy('seq')
    .limit(MAX_CANDIDATES)
  const urgent = waiting.where('alert_id', 'in', (critical) =>
    critical
      .selectFrom('alert_notifications')
      .select('alert_id')
      .where('outcome', '=', sql.lit('pending'))
      .where('weight', '=', sql.lit(6)),
  )
  const rows = [...(await urgent.execute()), ...(await waiting.execute())].map((row) =>
    notifications.decode(row),
  )
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq) as Waiting[]
}

/** The notifications of a message that is not sent yet, oldest first. */
export async function listContained(queries: Queries, messageId: string): Promise<Waiting[]> {
  const rows = await db(queries)
    .selectFrom('alert_notifications')
    .select(WAITING)
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending'))
    .orderBy('seq')
    .execute()
  return rows.map((row) => notifications.decode(row)) as Waiting[]
}

/** Decides a pending notification, which no message contains afterwards. */
export async function decidePending(tx: Tx, id: string, decided: Decided): Promise<void> {
  await tx.change(decideOne, { id, ...decided })
}

/** Changes what a message says. */
export async function rewriteMessage(tx: Tx, message: ChannelWork): Promise<void> {
  await tx.change(setContent, message)
}

/** Removes a message that contains no notification any more. */
export async function dropMessage(tx: Tx, id: string): Promise<void> {
  await tx.change(removeMessage, { id })
}

/** Writes a message and puts notifications into it. */
export async function createMessage(
  tx: Tx,
  message: ChannelWork,
  contained: readonly Pick<Waiting, 'id'>[],
): Promise<void> {
  await tx.change(insertMessage, message)
  await db(tx)
    .updateTable('alert_notifications')
    .set({ message_id: message.id })
    .where(
      'id',
      'in',
      contained.map(({ id }) => id),
    )
    .execute()
}

/** Records that a message was sent; returns how many notifications it contains. */
export async function recordSent(tx: Tx, messageId: string): Promise<{ outcome: Outcome; count: number }> {
  const contained = await countContained(tx, messageId)
  const outcome = contained === 1 ? 'sent' : 'bundled'
  const others = contained === 1 ? '' : ` with ${counted(contained - 1, 'other')}`
  const reason = `Sent${others} in message ${messageId}.`
  const count = await tx.change(decideMessage, { messageId, outcome, reason })
  await tx.change(removeMessage, { id: messageId })
  return { outcome, count }
}

/**
 * Records that a message is not sent again: its notifications up to `before` have failed, the later ones wait for another
 * message. Returns how many have failed.
 */
export async function markFailed(tx: Tx, messageId: string, before: number): Promise<number> {
  const count = await tx.change(giveUp, { messageId, before })
  await tx.change(unbundle, { messageId })
  await tx.change(removeMessage, { id: messageId })
  return count
}

/** Records why the last attempt at a message has failed. */
export async function explainFailure(
  tx: Tx,
  messageId: string,
  { isRefused, reason }: { readonly isRefused: boolean; readonly reason: string },
): Promise<void> {
  await tx.change(explain, { messageId, reason })
  await tx.change(markRefused, { id: messageId, isRefused: isRefused ? 1 : 0 })
}

async function countContained(queries: Queries, messageId: string): Promise<number> {
  const { contained } = await db(queries)
    .selectFrom('alert_notifications')
    .select((row) => row.fn.countAll<number>().as('contained'))
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending'))
    .executeTakeFirstOrThrow()
  return Number(contained)
}
