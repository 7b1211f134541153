import { sql } from 'kysely'
import { formatCount } from '../../../kernel/text.ts'
import { CLOCK_DIFFERENCE_MS } from '../../../kernel/time.ts'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import type { Queries, Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import { notifiedStateOf, type Decision, type Outcome, type WaitingNotification } from './model.ts'
import {
  channelMessages,
  channels,
  notifications,
  notifiedStates,
  changeRows,
  db,
  readRow,
  readRows,
} from './tables.ts'

/** A message that the sender works on. */
export type ChannelWork = RowOf<typeof channelMessages>

// A query takes at most 32,766 parameters on SQLite; a message has room for fewer notifications than this.
const MAX_CANDIDATES = 1_000

// After an outage there may be very many; counting them all at each scrape would take too long.
const COUNT_LIMIT = 100_000

const WAITING = notifications.except('channel', 'outcome', 'reason', 'cause', 'messageId')

export const messageQueue = new WorkQueue('alert_messages', channelMessages)

const saveNotifiedState = changeRows((on, state: NewRowOf<typeof notifiedStates>) =>
  on
    .insertInto('alert_told')
    .values(notifiedStates.values(state))
    .onConflict((conflict) =>
      conflict
        .columns(['alert_id', 'receiver'])
        .doUpdateSet(notifiedStates.setExcept(state, 'alertId', 'receiver')),
    ),
)

/** How many notifications are pending, counted up to 100,000. */
export const countPending = readRow(
  (on) =>
    on
      .selectFrom(
        on
          .selectFrom('alert_notifications')
          .select('seq')
          .where('outcome', '=', sql.lit('pending'))
          .limit(COUNT_LIMIT)
          .as('waiting'),
      )
      .select((row) => row.fn.countAll<number>().as('pending')),
  ({ pending }) => pending,
)

const insertMessage = changeRows((on, message: ChannelWork) =>
  on.insertInto('alert_messages').values(channelMessages.values(message)),
)

const decideMessage = changeRows((on, messageId: string, decision: Decision) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(decision, 'outcome', 'reason', 'cause'), content: null })
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending')),
)

const failNotifications = changeRows((on, messageId: string, before: number, why: string) =>
  on
    .updateTable('alert_notifications')
    .set({
      outcome: 'failed',
      // Until now it says why the last attempt has failed.
      reason: sql<string>`${why} || ' ' || coalesce(reason, 'The last attempt has not ended.')`,
      content: null,
    })
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending'))
    .where('at', '<=', before),
)

const releaseNotifications = changeRows((on, messageId: string) =>
  on
    .updateTable('alert_notifications')
    .set({ message_id: null })
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending')),
)

const setReason = changeRows((on, messageId: string, reason: string) =>
  on
    .updateTable('alert_notifications')
    .set({ reason })
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending')),
)

const setFailure = changeRows((on, message: Pick<ChannelWork, 'id' | 'refusals' | 'isUncertain'>) =>
  on
    .updateTable('alert_messages')
    .set(channelMessages.set(message, 'refusals', 'isUncertain'))
    .where('id', '=', message.id),
)

/** Decides the notifications of a message that was on its way while their alerts changed again. */
const decideReplaced = changeRows((on, messageId: string, decision: Decision) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(decision, 'outcome', 'reason', 'cause'), content: null, message_id: null })
    .where('message_id', '=', messageId)
    .where('outcome', '=', sql.lit('pending'))
    .where('id', 'in', (replaced) =>
      replaced
        .selectFrom('alert_notifications as n')
        .innerJoin('alert_notifications as newer', 'newer.alert_id', 'n.alert_id')
        .select('n.id')
        .where('n.message_id', '=', messageId)
        .where('n.outcome', '=', sql.lit('pending'))
        .where('newer.outcome', '=', sql.lit('pending'))
        .whereRef('newer.channel', '=', 'n.channel')
        .whereRef('newer.seq', '>', 'n.seq'),
    ),
)

const setClaim = changeRows((on, id: string, until: number, holder: string) =>
  on
    .updateTable('alert_messages')
    .set((row) => ({
      due_at: until,
      lease_holder: holder,
      attempts: row('attempts', '+', sql.lit(1)),
    }))
    .where('id', '=', id),
)

export const deleteMessage = changeRows((on, id: string) =>
  on.deleteFrom('alert_messages').where('id', '=', id),
)

/** The state of a channel, which all processes share. */
export type ChannelState = Pick<RowOf<typeof channels>, 'rate' | 'health' | 'failingSince' | 'isReported'>

const insertChannel = changeRows((on, name: string) =>
  on
    .insertInto('alert_channels')
    .values({ name, is_reported: sql.lit(0) })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)

/** Locks a channel, so that only one process at a time claims messages for it; returns its state. */
export async function lockChannel(tx: Tx, name: string): Promise<ChannelState> {
  const query = db(tx)
    .selectFrom('alert_channels')
    .select(channels.pick('rate', 'health', 'failingSince', 'isReported'))
    .where('name', '=', name)
    .forUpdate()
  let row = await query.executeTakeFirst()
  if (!row) {
    await insertChannel(tx, name)
    row = await query.executeTakeFirstOrThrow()
  }
  return channels.decode(row)
}

/** What a receiver has done, for people. */
export type ReceiverRow = Pick<
  RowOf<typeof channels>,
  'name' | 'lastSuccessAt' | 'lastError' | 'failingSince' | 'isReported'
>

export const listReceiverRows = readRows(
  (on) =>
    on
      .selectFrom('alert_channels')
      .select(channels.pick('name', 'lastSuccessAt', 'lastError', 'failingSince', 'isReported')),
  channels.decode,
)

export async function recordAttempt(
  tx: Tx,
  name: string,
  change: Partial<Omit<ReceiverRow, 'name'>>,
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

/** What waits for a receiver: notifications, counted up to 100,000, and notices. */
export const countPendingOf = readRow(
  (on, channel: string) => {
    const waiting = on
      .selectFrom('alert_notifications')
      .select('id')
      .where('channel', '=', channel)
      .where('outcome', '=', sql.lit('pending'))
      .limit(COUNT_LIMIT)
    const notices = on.selectFrom('alert_messages').where('channel', '=', channel).where('is_notice', '=', 1)
    return on.selectNoFrom([
      on
        .selectFrom(waiting.as('waiting'))
        .select((row) => row.fn.countAll<number>().as('count'))
        .as('notifications'),
      notices.select((row) => row.fn.countAll<number>().as('count')).as('notices'),
    ])
  },
  (row) => Number(row.notifications) + Number(row.notices),
)

/** Gives up what has waited since before that time for receivers that are not configured any more. */
export async function failUnconfigured(tx: Tx, configured: readonly string[], before: number): Promise<void> {
  await db(tx)
    .updateTable('alert_notifications')
    .set({ outcome: 'failed', reason: UNCONFIGURED, content: null, message_id: null })
    .where('outcome', '=', sql.lit('pending'))
    .where('at', '<', before)
    .$if(configured.length > 0, (query) => query.where('channel', 'not in', configured))
    .execute()
  await db(tx)
    .deleteFrom('alert_messages')
    .where('queued_at', '<', before)
    .$if(configured.length > 0, (query) => query.where('channel', 'not in', configured))
    .execute()
}

const UNCONFIGURED = 'Given up after 24 hours: no such receiver is configured any more.'

/** Queues a message that is not about an alert; one with the same key that still waits is left as it is. */
export const queueNotice = changeRows((on, notice: ChannelWork) =>
  on
    .insertInto('alert_messages')
    .values(channelMessages.values(notice))
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

export const saveChannel = changeRows((on, name: string, state: Pick<ChannelState, 'rate' | 'health'>) =>
  on
    .updateTable('alert_channels')
    .set(channels.set(state, 'rate', 'health'))
    .where('name', '=', name),
)

/** The messages that are being sent, or wait for another attempt. */
export const listUnsent = readRows(
  (on, channel: string) =>
    on.selectFrom('alert_messages').select(channelMessages.all).where('channel', '=', channel),
  channelMessages.decode,
)

/** What the unsent messages contain. */
export const listInMessages = readRows((on, channel: string) =>
  on
    .selectFrom('alert_notifications')
    .select(['message_id as messageId', 'alert_id as alertId', 'weight'])
    .where('channel', '=', channel)
    .where('outcome', '=', sql.lit('pending'))
    .where('message_id', 'is not', null)
    .$narrowType<{ messageId: string }>(),
)

/** Claims a message; the channel is locked. */
export async function claimMessage(
  tx: Tx,
  message: ChannelWork,
  { until, holder }: { readonly until: number; readonly holder: string },
): Promise<ChannelWork> {
  await setClaim(tx, message.id, until, holder)
  return { ...message, dueAt: until, leaseHolder: holder, attempts: message.attempts + 1 }
}

/** Notifications that no message contains yet: the most severe, and of these the oldest. */
export async function listWaiting(
  queries: Queries,
  channel: string,
  now: number,
): Promise<WaitingNotification[]> {
  const waiting = await listMostSevere(queries, channel, now, now + CLOCK_DIFFERENCE_MS)
  return waiting.sort((a, b) => a.seq - b.seq)
}

const listMostSevere = readRows(
  (on, channel: string, now: number, latest: number) =>
    on
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
          row('at', '>', latest),
        ]),
      )
      .orderBy('weight', 'desc')
      .orderBy('seq')
      .limit(MAX_CANDIDATES),
  (row) => notifications.decode(row) as WaitingNotification,
)

/** The notifications of a message that is not sent yet, oldest first. */
export const listContained = readRows(
  (on, messageId: string) =>
    on
      .selectFrom('alert_notifications')
      .select(WAITING)
      .where('message_id', '=', messageId)
      .where('outcome', '=', sql.lit('pending'))
      .orderBy('seq'),
  (row) => notifications.decode(row) as WaitingNotification,
)

/** Changes what a message says. */
export const rewriteMessage = changeRows((on, message: ChannelWork) =>
  on
    .updateTable('alert_messages')
    .set(channelMessages.set(message, 'title', 'text', 'level', 'details'))
    .where('id', '=', message.id),
)

/** Writes a message and puts notifications into it. */
export async function createMessage(
  tx: Tx,
  message: ChannelWork,
  contained: readonly Pick<WaitingNotification, 'id'>[],
): Promise<void> {
  await insertMessage(tx, message)
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
  receiver: string,
  at: number,
  warning: string | undefined,
): Promise<{ outcome: Outcome; count: number }> {
  const contained = await listContained(tx, messageId)
  const others = contained.length - 1
  const outcome = others === 0 ? 'sent' : 'bundled'
  const company = others === 0 ? '' : ` with ${formatCount(others, 'other')}`
  const reason = `Sent${company} in message ${messageId}.${warning === undefined ? '' : ` ${warning}`}`
  const values = { message: messageId, others, ...(warning !== undefined && { warning }) }
  const cause = { code: outcome, values } as const
  const newest = new Map(contained.map((notification) => [notification.alertId, notification]))
  for (const [alertId, notification] of newest)
    await saveNotifiedState(tx, { alertId, receiver, ...notifiedStateOf(notification), at })
  const count = await decideMessage(tx, messageId, { outcome, reason, cause })
  await deleteMessage(tx, messageId)
  return { outcome, count }
}

/**
 * Records that a message is not sent again, and why: its notifications up to `before` have failed, the later ones wait for
 * another message. Returns how many have failed.
 */
export async function markFailed(tx: Tx, messageId: string, before: number, why: string): Promise<number> {
  const count = await failNotifications(tx, messageId, before, why)
  await releaseNotifications(tx, messageId)
  await deleteMessage(tx, messageId)
  return count
}

/** Records why the last attempt at a message has failed; `replacement` decides what newer notifications have replaced. */
export async function explainFailure(
  tx: Tx,
  { id, refusals }: Pick<ChannelWork, 'id' | 'refusals'>,
  failure: { readonly reason: string; readonly isUncertain: boolean; readonly replacement: Decision },
): Promise<void> {
  const { reason, isUncertain, replacement } = failure
  await setReason(tx, id, reason)
  await setFailure(tx, { id, refusals, isUncertain })
  if (!isUncertain) await decideReplaced(tx, id, replacement)
}
