import { sql } from 'kysely'
import { formatCount } from '../../../kernel/text.ts'
import type { BucketState } from '../../../kernel/waiting.ts'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import { lockRows } from '../../../store/locking.ts'
import { first, type Queries, type Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import { CLOCK_DIFFERENCE_MS } from '../../../kernel/time.ts'
import type { AlertWeight } from '../model.ts'
import type { Health } from './health.ts'
import { toldBy, type Decision, type Outcome, type Waiting } from './model.ts'
import { channelMessages, channels, db, notifications, statement, told } from './tables.ts'

/** A message that the sender works on. */
export type ChannelWork = RowOf<typeof channelMessages>

// A query takes at most 32,766 parameters on SQLite; a message has room for fewer notifications than this.
const MAX_CANDIDATES = 1_000

// After an outage there may be very many; counting them all at each scrape would take too long.
const COUNT_LIMIT = 100_000

const WAITING = notifications.pick(
  'seq',
  'id',
  'alertId',
  'at',
  'occasion',
  'weight',
  'source',
  'content',
  'dueAt',
  'trace',
)

export const messageQueue = new WorkQueue('alert_messages', channelMessages)

const saveTold = statement<NewRowOf<typeof told>>((on, value) =>
  on
    .insertInto('alert_told')
    .values(told.values(value))
    .onConflict((conflict) =>
      conflict
        .columns(['alert_id', 'receiver'])
        .doUpdateSet(told.set(value, 'weight', 'status', 'at', 'textHash')),
    ),
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

const saveState = statement<Pick<NewRowOf<typeof channels>, 'name' | 'rate' | 'health'>>((on, value) =>
  on
    .updateTable('alert_channels')
    .set(channels.set(value, 'rate', 'health'))
    .where('name', '=', value('name')),
)

const decideMessage = statement<Decision & { messageId: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(value, 'outcome', 'reason', 'cause'), content: null })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending')),
)

const giveUp = statement<{ messageId: string; before: number; why: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({
      outcome: 'failed',
      // Until now it says why the last attempt has failed.
      reason: sql<string>`${value('why')} || ' ' || coalesce(reason, 'The last attempt has not ended.')`,
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

const recordFailure = statement<Pick<ChannelWork, 'id' | 'refusals'> & { isUncertain: number }>((on, value) =>
  on
    .updateTable('alert_messages')
    .set({ refusals: value('refusals'), is_uncertain: value('isUncertain') })
    .where('id', '=', value('id')),
)

// The messages that were on their way while their alerts changed again.
const dropReplaced = statement<Decision & { messageId: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(value, 'outcome', 'reason', 'cause'), content: null, message_id: null })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending'))
    .where('id', 'in', (replaced) =>
      replaced
        .selectFrom('alert_notifications as n')
        .innerJoin('alert_notifications as newer', 'newer.alert_id', 'n.alert_id')
        .select('n.id')
        .where('n.message_id', '=', value('messageId'))
        .where('n.outcome', '=', sql.lit('pending'))
        .where('newer.outcome', '=', sql.lit('pending'))
        .whereRef('newer.channel', '=', 'n.channel')
        .whereRef('newer.seq', '>', 'n.seq'),
    ),
)

const claimOne = statement<{ id: string; until: number; holder: string }>((on, value) =>
  on
    .updateTable('alert_messages')
    .set((row) => ({
      due_at: value('until'),
      lease_holder: value('holder'),
      attempts: row('attempts', '+', sql.lit(1)),
    }))
    .where('id', '=', value('id')),
)

const setContent = statement<Pick<ChannelWork, 'id' | 'title' | 'text' | 'level' | 'details'>>((on, value) =>
  on
    .updateTable('alert_messages')
    .set(channelMessages.set(value, 'title', 'text', 'level', 'details'))
    .where('id', '=', value('id')),
)

const removeMessage = statement<{ id: string }>((on, value) =>
  on.deleteFrom('alert_messages').where('id', '=', value('id')),
)

/** How many notifications are pending, counted up to 100,000. */
export async function countPending(queries: Queries): Promise<number> {
  return (await first(queries, pendingCount, { limit: COUNT_LIMIT }))?.pending ?? 0
}

/** The state of a channel, which all processes share. */
export interface ChannelState {
  readonly rate: BucketState | undefined
  readonly health: Health | undefined
  readonly failingSince: number | null
  readonly isReported: boolean
}

/** Locks a channel, so that only one process at a time claims messages for it; returns its state. */
export async function lockChannel(tx: Tx, name: string): Promise<ChannelState> {
  const query = db(tx)
    .selectFrom('alert_channels')
    .select(channels.pick('rate', 'health', 'failingSince', 'isReported'))
    .where('name', '=', name)
    .$call(lockRows(tx.capabilities))
  let row = await query.executeTakeFirst()
  if (!row) {
    await tx.change(insertChannel, { name })
    row = await query.executeTakeFirstOrThrow()
  }
  const { rate, health, ...state } = channels.decode(row)
  return { ...state, rate: rate ?? undefined, health: health ?? undefined }
}

/** What a receiver has done, for people. */
export type ReceiverRow = Pick<
  RowOf<typeof channels>,
  'name' | 'lastSuccessAt' | 'lastError' | 'failingSince' | 'isReported'
>

export async function listReceiverRows(queries: Queries): Promise<ReceiverRow[]> {
  const rows = await db(queries)
    .selectFrom('alert_channels')
    .select(channels.pick('name', 'lastSuccessAt', 'lastError', 'failingSince', 'isReported'))
    .execute()
  return rows.map((row) => channels.decode(row))
}

export async function recordAttempt(
  tx: Tx,
  name: string,
  change: Partial<Omit<ReceiverRow, 'name' | 'isReported'>> & { readonly isReported?: boolean },
): Promise<void> {
  const { lastSuccessAt, lastError, failingSince, isReported } = change
  await db(tx)
    .updateTable('alert_channels')
    .set({
      ...(lastSuccessAt !== undefined && { last_success_at: lastSuccessAt }),
      ...(lastError !== undefined && { last_error: lastError }),
      ...(failingSince !== undefined && { failing_since: failingSince }),
      ...(isReported !== undefined && { is_reported: isReported ? 1 : 0 }),
    })
    .where('name', '=', name)
    .execute()
}

/** What waits for a receiver: notifications and notices, counted up to 100,000. */
export async function countPendingOf(queries: Queries, channel: string): Promise<number> {
  const { waiting } = await db(queries)
    .selectFrom(
      db(queries)
        .selectFrom('alert_notifications')
        .select('id')
        .where('channel', '=', channel)
        .where('outcome', '=', sql.lit('pending'))
        .limit(COUNT_LIMIT)
        .as('pending'),
    )
    .select((row) => row.fn.countAll<number>().as('waiting'))
    .executeTakeFirstOrThrow()
  const { notices } = await db(queries)
    .selectFrom('alert_messages')
    .select((row) => row.fn.countAll<number>().as('notices'))
    .where('channel', '=', channel)
    .where('is_notice', '=', 1)
    .executeTakeFirstOrThrow()
  return Number(waiting) + Number(notices)
}

/** Ends what waits since before that time for receivers that are not configured any more; returns how many. */
export async function failUnconfigured(
  tx: Tx,
  configured: readonly string[],
  before: number,
): Promise<number> {
  const { numUpdatedRows } = await db(tx)
    .updateTable('alert_notifications')
    .set({ outcome: 'failed', reason: UNCONFIGURED, content: null, message_id: null })
    .where('outcome', '=', sql.lit('pending'))
    .where('at', '<', before)
    .$if(configured.length > 0, (query) => query.where('channel', 'not in', configured))
    .executeTakeFirst()
  await db(tx)
    .deleteFrom('alert_messages')
    .where('queued_at', '<', before)
    .$if(configured.length > 0, (query) => query.where('channel', 'not in', configured))
    .execute()
  return Number(numUpdatedRows)
}

const UNCONFIGURED = 'Given up after 24 hours: no such receiver is configured any more.'

const insertChannel = statement<{ name: string }>((on, value) =>
  on
    .insertInto('alert_channels')
    .values({ name: value('name'), is_reported: sql.lit(0) })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

/** Queues a message that is not about an alert; one with the same key that still waits is left as it is. */
export async function queueNotice(tx: Tx, notice: ChannelWork): Promise<void> {
  await db(tx)
    .insertInto('alert_messages')
    .values(channelMessages.values((name) => notice[name]))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export async function saveChannel(
  tx: Tx,
  name: string,
  { rate, health }: Pick<ChannelState, 'rate' | 'health'>,
): Promise<void> {
  await tx.change(saveState, { name, rate: rate ?? null, health: health ?? null })
}

/** The messages that are being sent, or wait for another attempt. */
export async function listUnsent(queries: Queries, channel: string): Promise<ChannelWork[]> {
  const rows = await db(queries)
    .selectFrom('alert_messages')
    .select(channelMessages.all)
    .where('channel', '=', channel)
    .execute()
  return rows.map((row) => channelMessages.decode(row))
}

/** What the unsent messages contain. */
export async function listInMessages(
  queries: Queries,
  channel: string,
): Promise<{ messageId: string; alertId: string; weight: AlertWeight }[]> {
  return db(queries)
    .selectFrom('alert_notifications')
    .select(['message_id as messageId', 'alert_id as alertId', 'weight'])
    .where('channel', '=', channel)
    .where('outcome', '=', sql.lit('pending'))
    .where('message_id', 'is not', null)
    .$narrowType<{ messageId: string }>()
    .execute()
}

/** Claims a message; the channel is locked. */
export async function claimMessage(
  tx: Tx,
  message: ChannelWork,
  { until, holder }: { readonly until: number; readonly holder: string },
): Promise<ChannelWork> {
  await tx.change(claimOne, { id: message.id, until, holder })
  return { ...message, dueAt: until, leaseHolder: holder, attempts: message.attempts + 1 }
}

/** Notifications that no message contains yet: the most severe, and of these the oldest. */
export async function listWaiting(queries: Queries, channel: string, now: number): Promise<Waiting[]> {
  const rows = await db(queries)
    .selectFrom('alert_notifications')
    .select(WAITING)
    .where('channel', '=', channel)
    .where('outcome', '=', sql.lit('pending'))
    .where('message_id', 'is', null)
    .where((row) =>
      row.or([
        row('due_at', 'is', null),
        row('due_at', '<=', now),
        // The clock was set back since: the hours may have begun.
        row('at', '>', now + CLOCK_DIFFERENCE_MS),
      ]),
    )
    .orderBy('weight', 'desc')
    .orderBy('seq')
    .limit(MAX_CANDIDATES)
    .execute()
  return rows.map((row) => notifications.decode(row)).sort((a, b) => a.seq - b.seq) as Waiting[]
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
export async function recordSent(
  tx: Tx,
  messageId: string,
  {
    receiver,
    at,
    warning,
  }: { readonly receiver: string; readonly at: number; readonly warning?: string | undefined },
): Promise<{ outcome: Outcome; count: number }> {
  const contained = await listContained(tx, messageId)
  const outcome = contained.length === 1 ? 'sent' : 'bundled'
  const others = contained.length === 1 ? '' : ` with ${formatCount(contained.length - 1, 'other')}`
  const reason = `Sent${others} in message ${messageId}.${warning === undefined ? '' : ` ${warning}`}`
  const values = {
    message: messageId,
    others: contained.length - 1,
    ...(warning !== undefined && { warning }),
  }
  const cause = { code: outcome, values } as const
  const newest = new Map(contained.map((notification) => [notification.alertId, notification]))
  for (const [alertId, notification] of newest)
    await tx.change(saveTold, { alertId, receiver, ...toldBy(notification), at })
  const count = await tx.change(decideMessage, { messageId, outcome, reason, cause })
  await tx.change(removeMessage, { id: messageId })
  return { outcome, count }
}

/**
 * Records that a message is not sent again, and why: its notifications up to `before` have failed, the later ones wait for
 * another message. Returns how many have failed.
 */
export async function markFailed(
  tx: Tx,
  messageId: string,
  { before, why }: { readonly before: number; readonly why: string },
): Promise<number> {
  const count = await tx.change(giveUp, { messageId, before, why })
  await tx.change(unbundle, { messageId })
  await tx.change(removeMessage, { id: messageId })
  return count
}

/** Records why the last attempt at a message has failed; `replacement` decides what newer notifications have replaced. */
export async function explainFailure(
  tx: Tx,
  { id, refusals }: Pick<ChannelWork, 'id' | 'refusals'>,
  failure: { readonly reason: string; readonly isUncertain: boolean; readonly replacement: Decision },
): Promise<void> {
  const { reason, isUncertain, replacement } = failure
  await tx.change(explain, { messageId: id, reason })
  await tx.change(recordFailure, { id, refusals, isUncertain: isUncertain ? 1 : 0 })
  if (!isUncertain) await tx.change(dropReplaced, { messageId: id, ...replacement })
}
