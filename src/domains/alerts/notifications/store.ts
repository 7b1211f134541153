import { sql, type ExpressionBuilder } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../../kernel/page.ts'
import type { NewRowOf, RowOf, TableOf } from '../../../store/columns.ts'
import type { Queries, Tx } from '../../../store/store.ts'
import type { Damping } from './damping.ts'
import {
  toldBy,
  type Decision,
  type NotificationDecision,
  type OccasionKind,
  type Outcome,
  type Told,
  type Waiting,
} from './model.ts'
import {
  dampings,
  db,
  episodes,
  notifications,
  pages,
  told,
  readRow,
  readRows,
  changeRows,
} from './tables.ts'

type NewNotification = NewRowOf<typeof notifications>

/** What people know of an alert that they have acknowledged. */
type Known = Pick<NewRowOf<typeof told>, 'alertId' | 'weight'> & { readonly textHash: string }

/** The outcomes of a notification that was sent, or will be. */
const TOLD_LITERALS = (['pending', 'sent', 'bundled'] as const).map((outcome) => sql.lit(outcome))

const DECISION = notifications.pick('id', 'at', 'occasion', 'channel', 'outcome', 'reason', 'cause')

const latestSeq = (
  row: ExpressionBuilder<{ alert_notifications: TableOf<typeof notifications> }, 'alert_notifications'>,
) => row.fn.coalesce(row.fn.max<number>('seq'), sql<number>`0`).as('seq')

const toldOf = readRows((on, alertId: string) =>
  on
    .selectFrom('alert_told')
    .select(told.pick('receiver', 'weight', 'status', 'textHash', 'at'))
    .where('alert_id', '=', alertId),
)

const lower = changeRows((on, known: Known) =>
  on
    .updateTable('alert_told')
    .set({ weight: known.weight })
    .where('alert_id', '=', known.alertId)
    .where('weight', '>', known.weight),
)

const setTexts = changeRows((on, known: Known) =>
  on.updateTable('alert_told').set({ text_hash: known.textHash }).where('alert_id', '=', known.alertId),
)

const pendingOf = readRows((on, alertId: string) =>
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
    .where('n.alert_id', '=', alertId)
    .where('n.outcome', '=', sql.lit('pending'))
    .orderBy('n.seq'),
)

const refresh = changeRows((on, change: Pick<NewNotification, 'id' | 'weight' | 'source' | 'content'>) =>
  on
    .updateTable('alert_notifications')
    .set(notifications.set(change, 'weight', 'source', 'content'))
    .where('id', '=', change.id)
    .where('outcome', '=', sql.lit('pending')),
)

const setWait = changeRows((on, change: Decision & { id: string; at: number; dueAt: number }) =>
  on
    .updateTable('alert_notifications')
    .set(notifications.set(change, 'at', 'dueAt', 'outcome', 'reason', 'cause'))
    .where('id', '=', change.id),
)

const sameInFreeze = readRow(
  (
    on,
    {
      alertId,
      channel,
      occasion,
      outcome,
    }: { alertId: string; channel: string; occasion: OccasionKind; outcome: Outcome },
  ) =>
    on
      .selectFrom('alert_notifications')
      .select('seq')
      .where('alert_id', '=', alertId)
      .where('channel', '=', channel)
      .where('occasion', '=', occasion)
      .where('outcome', '=', outcome)
      .where('seq', '>', (freeze) =>
        freeze
          .selectFrom('alert_notifications')
          .select(latestSeq)
          .where('alert_id', '=', alertId)
          .where('occasion', '=', sql.lit('frozen')),
      )
      .limit(1),
)

// A quiet alert stores one decision of each kind.
const sameInQuiet = readRow(
  (
    on,
    {
      alertId,
      channel,
      occasion,
      since,
    }: { alertId: string; channel: string; occasion: OccasionKind; since: number },
  ) =>
    on
      .selectFrom('alert_notifications')
      .select('seq')
      .where('alert_id', '=', alertId)
      .where('channel', '=', channel)
      .where('occasion', '=', occasion)
      .where('outcome', '=', sql.lit('damped'))
      .where('at', '>=', since)
      .limit(1),
)

const saveDampingOf = changeRows((on, row: NewRowOf<typeof dampings>) =>
  on
    .insertInto('alert_dampings')
    .values(dampings.values(row))
    .onConflict((conflict) =>
      conflict
        .column('alert_id')
        .doUpdateSet(dampings.set(row, 'tellings', 'weight', 'quietSince', 'changes', 'dueAt')),
    ),
)

const decideOne = changeRows((on, change: Decision & { id: string }) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(change, 'outcome', 'reason', 'cause'), content: null, message_id: null })
    .where('id', '=', change.id)
    .where('outcome', '=', sql.lit('pending')),
)

export const insertNotification = changeRows((on, notification: NewNotification) =>
  on.insertInto('alert_notifications').values(notifications.values(notification)),
)

/** What each receiver was told last of the alert. */
export async function listTold(
  queries: Queries,
  alertId: string,
): Promise<ReadonlyMap<string, Told & { readonly at: number }>> {
  const rows = await toldOf(queries, alertId)
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
  await lower(tx, known)
  await setTexts(tx, known)
}

/** The last decision on an alert. */
export const findLatest = readRow((on, alertId: string, channel: string) =>
  on
    .selectFrom('alert_notifications')
    .select(notifications.pick('outcome'))
    .where('alert_id', '=', alertId)
    .where('channel', '=', channel)
    .orderBy('seq', 'desc')
    .limit(1),
)

// The newest decision against it; an end that was not told either repeats the reason.
/** See `Facts.heldBack`. */
export const findHeldBack = readRow(
  (on, alertId: string, channel: string) =>
    on
      .selectFrom('alert_notifications')
      .select(notifications.pick('outcome', 'reason', 'cause'))
      .where('alert_id', '=', alertId)
      .where('channel', '=', channel)
      .where('outcome', 'not in', TOLD_LITERALS)
      .where('weight', '>', sql.lit(0))
      .orderBy('seq', 'desc')
      .limit(1),
  notifications.decode,
)

/** The pending notifications of an alert by receiver: what it may have got already, and what waits. */
export async function listPendingOf(queries: Queries, alertId: string) {
  const rows = await pendingOf(queries, alertId)
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
  await refresh(tx, { id, weight, source, content })
}

/** A pending notification waits for another time, from now on. */
export async function postponePending(
  tx: Tx,
  id: string,
  wait: Decision & { readonly at: number; readonly dueAt: number },
): Promise<void> {
  await setWait(tx, { id, ...wait })
}

/** Whether the alert has that decision on that occasion since it was frozen last. */
export async function hasDecisionInFreeze(
  queries: Queries,
  alertId: string,
  decision: { readonly channel: string; readonly occasion: OccasionKind; readonly outcome: Outcome },
): Promise<boolean> {
  return (await sameInFreeze(queries, { alertId, ...decision })) !== undefined
}

/** Whether the receiver has a decision on that occasion since the alert is quiet. */
export async function hasDecisionInQuiet(
  queries: Queries,
  alertId: string,
  decision: { readonly channel: string; readonly occasion: OccasionKind; readonly since: number },
): Promise<boolean> {
  return (await sameInQuiet(queries, { alertId, ...decision })) !== undefined
}

export const findDamping = readRow(
  (on, alertId: string) =>
    on
      .selectFrom('alert_dampings')
      .select(dampings.pick('tellings', 'weight', 'quietSince', 'changes', 'dueAt'))
      .where('alert_id', '=', alertId),
  dampings.decode,
)

/** The dampings of those alerts that have one. */
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
  await saveDampingOf(tx, { alertId, ...damping })
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

export const saveEpisode = changeRows((on, episode: Episode) =>
  on
    .insertInto('alert_episodes')
    .values(episodes.values(episode))
    .onConflict((conflict) =>
      conflict
        .columns(['alert_id', 'route'])
        .doUpdateSet(episodes.set(episode, 'startedAt', 'step', 'escalateAt', 'repeatAt', 'dueAt')),
    ),
)

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
): Promise<Page<NotificationDecision>> {
  return mapPage(await pageOfDecisions(queries, { alertId }, page), notifications.decode)
}

/** Decides a pending notification, which no message contains afterwards. */
export async function decidePending(tx: Tx, id: string, decision: Decision): Promise<void> {
  await decideOne(tx, { id, ...decision })
}
