import { sql, type ExpressionBuilder } from 'kysely'
import { counted } from '../../../kernel/text.ts'
import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { BucketState } from '../../../kernel/token-bucket.ts'
import type { NewRowOf, RowOf, TableOf } from '../../../store/columns.ts'
import { lockRows } from '../../../store/locking.ts'
import { first, type Queries, type Tx } from '../../../store/store.ts'
import { WorkQueue } from '../../../store/work/work-queue.ts'
import { CLOCK_DIFFERENCE_MS } from '../../../kernel/time.ts'
import type { AlertWeight } from '../model.ts'
import type { Damping } from './damping.ts'
import type { Health } from './health.ts'
import {
  toldBy,
  type Decided,
  type Decision,
  type OccasionKind,
  type Outcome,
  type Told,
  type Waiting,
} from './model.ts'
import {
  channelMessages,
  channels,
  dampings,
  db,
  episodes,
  notifications,
  pages,
  statement,
  told,
} from './tables.ts'

type NewNotification = NewRowOf<typeof notifications>
/** A message that the sender works on. */
export type ChannelWork = RowOf<typeof channelMessages>

/** What people know of an alert that they have acknowledged. */
type Known = Pick<NewRowOf<typeof told>, 'alertId' | 'weight'> & { readonly textHash: string }

/** The outcomes of a notification that was sent, or will be. */
const TOLD_LITERALS = (['pending', 'sent', 'bundled'] as const).map((outcome) => sql.lit(outcome))
// A query takes at most 32,766 parameters on SQLite; a message has room for fewer notifications than this.
const MAX_CANDIDATES = 1_000
// After an outage there may be very many; counting them all at each scrape would take too long.
const COUNT_LIMIT = 100_000

const DECISION = notifications.pick('id', 'at', 'occasion', 'channel', 'outcome', 'reason', 'cause')
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

const latestSeq = (
  row: ExpressionBuilder<{ alert_notifications: TableOf<typeof notifications> }, 'alert_notifications'>,
) => row.fn.coalesce(row.fn.max<number>('seq'), sql<number>`0`).as('seq')

const insert = statement<NewNotification>((on, value) =>
  on.insertInto('alert_notifications').values(notifications.values(value)),
)

const toldOf = statement<{ alertId: string }, Told & { receiver: string; at: number }>((on, value) =>
  on
    .selectFrom('alert_told')
    .select(told.pick('receiver', 'weight', 'status', 'textHash', 'at'))
    .where('alert_id', '=', value('alertId')),
)

const lower = statement<Known>((on, value) =>
  on
    .updateTable('alert_told')
    .set({ weight: value('weight') })
    .where('alert_id', '=', value('alertId'))
    .where('weight', '>', value('weight')),
)

const setTexts = statement<Known>((on, value) =>
  on
    .updateTable('alert_told')
    .set({ text_hash: value('textHash') })
    .where('alert_id', '=', value('alertId')),
)

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

const latest = statement<{ alertId: string; channel: string }, Pick<Decided, 'outcome'>>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select(notifications.pick('outcome'))
    .where('alert_id', '=', value('alertId'))
    .where('channel', '=', value('channel'))
    .orderBy('seq', 'desc')
    .limit(1),
)

// The newest decision against it; an end that was not told either repeats the reason.
const heldBack = statement<
  { alertId: string; channel: string },
  Pick<TableOf<typeof notifications>, 'outcome' | 'reason' | 'cause'>
>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select(notifications.pick('outcome', 'reason', 'cause'))
    .where('alert_id', '=', value('alertId'))
    .where('channel', '=', value('channel'))
    .where('outcome', 'not in', TOLD_LITERALS)
    .where('weight', '>', sql.lit(0))
    .orderBy('seq', 'desc')
    .limit(1),
)

type PendingOf = Pick<TableOf<typeof notifications>, 'id' | 'occasion' | 'weight' | 'content' | 'channel'> & {
  readonly isSending: number
  readonly dueAt: number | null
  readonly at: number
}

const pendingOf = statement<{ alertId: string }, PendingOf>((on, value) =>
  on
    .selectFrom('alert_notifications as n')
    .leftJoin('alert_messages as m', 'm.id', 'n.message_id')
    .select((row) => [
      'n.id',
      'n.channel',
      'n.at',
      'n.due_at as dueAt',
      'n.occasion',
      'n.weight',
      'n.content',
      row
        .case()
        .when(row.or([row('m.lease_holder', 'is not', null), row('m.is_uncertain', '=', sql.lit(1))]))
        .then(sql.lit(1))
        .else(sql.lit(0))
        .end()
        .as('isSending'),
    ])
    .where('n.alert_id', '=', value('alertId'))
    .where('n.outcome', '=', sql.lit('pending'))
    .orderBy('n.seq'),
)

const refresh = statement<Pick<NewNotification, 'id' | 'weight' | 'source' | 'content'>>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set(notifications.set(value, 'weight', 'source', 'content'))
    .where('id', '=', value('id'))
    .where('outcome', '=', sql.lit('pending')),
)

const setWait = statement<Decided & { id: string; at: number; dueAt: number }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set(notifications.set(value, 'at', 'dueAt', 'outcome', 'reason', 'cause'))
    .where('id', '=', value('id')),
)

const sameInFreeze = statement<
  { alertId: string; channel: string; occasion: OccasionKind; outcome: Outcome },
  { seq: number }
>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select('seq')
    .where('alert_id', '=', value('alertId'))
    .where('channel', '=', value('channel'))
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

// One decision of each kind says that a quiet alert is quiet.
const sameInQuiet = statement<
  { alertId: string; channel: string; occasion: OccasionKind; since: number },
  { seq: number }
>((on, value) =>
  on
    .selectFrom('alert_notifications')
    .select('seq')
    .where('alert_id', '=', value('alertId'))
    .where('channel', '=', value('channel'))
    .where('occasion', '=', value('occasion'))
    .where('outcome', '=', sql.lit('damped'))
    .where('at', '>=', value('since'))
    .limit(1),
)

const dampingOf = statement<{ alertId: string }, Omit<Damping, 'tellings'> & { tellings: string }>(
  (on, value) =>
    on
      .selectFrom('alert_dampings')
      .select(dampings.pick('tellings', 'weight', 'quietSince', 'changes', 'dueAt'))
      .where('alert_id', '=', value('alertId')),
)

const saveDampingOf = statement<NewRowOf<typeof dampings>>((on, value) =>
  on
    .insertInto('alert_dampings')
    .values(dampings.values(value))
    .onConflict((conflict) =>
      conflict
        .column('alert_id')
        .doUpdateSet(dampings.set(value, 'tellings', 'weight', 'quietSince', 'changes', 'dueAt')),
    ),
)

const saveEpisodeOf = statement<NewRowOf<typeof episodes>>((on, value) =>
  on
    .insertInto('alert_episodes')
    .values(episodes.values(value))
    .onConflict((conflict) =>
      conflict
        .columns(['alert_id', 'route'])
        .doUpdateSet(episodes.set(value, 'startedAt', 'step', 'escalateAt', 'repeatAt', 'dueAt')),
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

const decideMessage = statement<Decided & { messageId: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(value, 'outcome', 'reason', 'cause'), content: null })
    .where('message_id', '=', value('messageId'))
    .where('outcome', '=', sql.lit('pending')),
)

const decideOne = statement<Decided & { id: string }>((on, value) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(value, 'outcome', 'reason', 'cause'), content: null, message_id: null })
    .where('id', '=', value('id'))
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
const dropReplaced = statement<Decided & { messageId: string }>((on, value) =>
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

export async function insertNotification(tx: Tx, notification: NewNotification): Promise<void> {
  await tx.change(insert, notification)
}

/** What each receiver was told last of the alert. */
export async function listTold(
  queries: Queries,
  alertId: string,
): Promise<ReadonlyMap<string, Told & { readonly at: number }>> {
  const rows = await queries.run(toldOf, { alertId })
  return new Map(rows.map((row) => [row.receiver, row]))
}

/** What a receiver was told last of each of the alerts. */
export async function listToldBy(
  queries: Queries,
  receiver: string,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, Told>> {
  const rows = await db(queries)
    .selectFrom('alert_told')
    .select(told.pick('alertId', 'weight', 'status', 'textHash'))
    .where('receiver', '=', receiver)
    .where('alert_id', 'in', alertIds)
    .execute()
  return new Map(rows.map(({ alertId, ...row }) => [alertId, row]))
}

/** Whether the receiver was told of each of the alerts at another time than that. */
export async function wasToldSince(
  queries: Queries,
  receiver: string,
  alertIds: readonly string[],
  at: number,
): Promise<boolean> {
  const { count } = await db(queries)
    .selectFrom('alert_told')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('receiver', '=', receiver)
    .where('alert_id', 'in', alertIds)
    .where('at', '!=', at)
    .executeTakeFirstOrThrow()
  return Number(count) === alertIds.length
}

/** Whoever was told of the alert now knows its texts, and that it is not worse than this. */
export async function recordKnown(tx: Tx, known: Known): Promise<void> {
  await tx.change(lower, known)
  await tx.change(setTexts, known)
}

/** The last decision on an alert. */
export function findLatest(
  queries: Queries,
  alertId: string,
  channel: string,
): Promise<Pick<Decided, 'outcome'> | undefined> {
  return first(queries, latest, { alertId, channel })
}

/** See `Facts.heldBack`. */
export async function findHeldBack(
  queries: Queries,
  alertId: string,
  channel: string,
): Promise<Decided | undefined> {
  const row = await first(queries, heldBack, { alertId, channel })
  return row && notifications.decode(row)
}

/** The pending notifications of an alert by receiver: what it may have got already, and what waits. */
export async function listPendingOf(queries: Queries, alertId: string) {
  const rows = await queries.run(pendingOf, { alertId })
  return new Map(
    [...Map.groupBy(rows, ({ channel }) => channel)].map(([receiver, pending]) => {
      const sent = pending.findLast(({ isSending }) => isSending === 1)
      return [
        receiver,
        {
          sending: sent && toldBy(notifications.decode(sent)),
          waiting: pending.filter(({ isSending }) => isSending === 0),
        },
      ]
    }),
  )
}

/** Gives a pending notification the present state of its alert. */
export async function refreshPending(tx: Tx, notification: Waiting): Promise<void> {
  const { id, weight, source, content } = notification
  await tx.change(refresh, { id, weight, source, content })
}

/** A pending notification waits for another time, from now on. */
export async function postponePending(
  tx: Tx,
  id: string,
  wait: Decided & { readonly at: number; readonly dueAt: number },
): Promise<void> {
  await tx.change(setWait, { id, ...wait })
}

/** Whether the alert has that decision on that occasion since it was frozen last. */
export async function isDecidedInFreeze(
  queries: Queries,
  alertId: string,
  decision: { readonly channel: string; readonly occasion: OccasionKind; readonly outcome: Outcome },
): Promise<boolean> {
  return (await first(queries, sameInFreeze, { alertId, ...decision })) !== undefined
}

/** Whether the receiver has a decision on that occasion since the alert is quiet. */
export async function isDecidedInQuiet(
  queries: Queries,
  alertId: string,
  decision: { readonly channel: string; readonly occasion: OccasionKind; readonly since: number },
): Promise<boolean> {
  return (await first(queries, sameInQuiet, { alertId, ...decision })) !== undefined
}

export async function findDamping(queries: Queries, alertId: string): Promise<Damping | undefined> {
  const row = await first(queries, dampingOf, { alertId })
  return row && dampings.decode(row)
}

/** Those of the alerts that have one. */
export async function listDampings(
  queries: Queries,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, Damping>> {
  const rows = await db(queries)
    .selectFrom('alert_dampings')
    .select(dampings.pick('alertId', 'tellings', 'weight', 'quietSince', 'changes', 'dueAt'))
    .where('alert_id', 'in', alertIds)
    .execute()
  return new Map(
    rows.map((row) => {
      const { alertId, ...damping } = dampings.decode(row)
      return [alertId, damping]
    }),
  )
}

export async function saveDamping(tx: Tx, alertId: string, damping: Damping): Promise<void> {
  await tx.change(saveDampingOf, { alertId, ...damping })
}

export async function deleteDamping(tx: Tx, alertId: string): Promise<void> {
  await db(tx).deleteFrom('alert_dampings').where('alert_id', '=', alertId).execute()
}

/** See `episodes`. */
export type Episode = RowOf<typeof episodes>

export async function listEpisodes(queries: Queries, alertId: string): Promise<Episode[]> {
  return db(queries)
    .selectFrom('alert_episodes')
    .select(episodes.all)
    .where('alert_id', '=', alertId)
    .execute()
}

export async function saveEpisode(tx: Tx, episode: Episode): Promise<void> {
  await tx.change(saveEpisodeOf, episode)
}

export async function deleteEpisodes(tx: Tx, alertId: string): Promise<void> {
  await db(tx).deleteFrom('alert_episodes').where('alert_id', '=', alertId).execute()
}

/** The alerts with something that is due, or further away than ever: written before the clock was set back. */
export async function listDueAlertIds(
  queries: Queries,
  table: 'alert_episodes' | 'alert_dampings',
  { now, far, limit }: { readonly now: number; readonly far: number; readonly limit: number },
): Promise<string[]> {
  const rows = await db(queries)
    .selectFrom(table)
    .select('alert_id as id')
    .where('due_at', 'is not', null)
    .where((row) => row.or([row('due_at', '<=', now), row('due_at', '>', far)]))
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return [...new Set(rows.map(({ id }) => id))]
}

const pageOfDecisions = pages(
  { table: 'alert_notifications', createdAt: 'at' },
  (on) => on.selectFrom('alert_notifications').select([...DECISION, 'seq']),
  { alertId: (query, alertId: string) => query.where('alert_id', '=', alertId) },
)

/** The decisions on an alert, newest first. */
export async function listDecisions(
  queries: Queries,
  alertId: string,
  page: PageRequest,
): Promise<Page<Decision>> {
  return mapPage(await pageOfDecisions(queries, { alertId }, page), notifications.decode)
}

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
        // Of a clock that was set back since: the hours may have begun.
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
  const others = contained.length === 1 ? '' : ` with ${counted(contained.length - 1, 'other')}`
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
  failure: { readonly reason: string; readonly isUncertain: boolean; readonly replacement: Decided },
): Promise<void> {
  const { reason, isUncertain, replacement } = failure
  await tx.change(explain, { messageId: id, reason })
  await tx.change(recordFailure, { id, refusals, isUncertain: isUncertain ? 1 : 0 })
  if (!isUncertain) await tx.change(dropReplaced, { messageId: id, ...replacement })
}
