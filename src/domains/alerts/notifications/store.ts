import { sql } from 'kysely'
import type { NewRowOf, RowOf } from '../../../store/columns.ts'
import type { Queries } from '../../../store/store.ts'
import type { AlertWeight } from '../model.ts'
import type { Damping } from './damping.ts'
import {
  notifiedStateOf,
  type Decision,
  type OccasionKind,
  type Outcome,
  type NotifiedState,
  type WaitingNotification,
} from './model.ts'
import {
  dampings,
  episodes,
  notifications,
  notifiedStates,
  changeRows,
  db,
  pages,
  readRow,
  readRows,
} from './tables.ts'

/** The outcomes of a notification that was sent, or will be. */
const NOTIFIED_LITERALS = (['pending', 'sent', 'bundled'] as const).map((outcome) => sql.lit(outcome))

const listNotifiedRows = readRows((on, alertId: string) =>
  on
    .selectFrom('alert_told')
    .select(notifiedStates.pick('receiver', 'weight', 'status', 'textHash', 'at'))
    .where('alert_id', '=', alertId),
)

const listPendingRows = readRows((on, alertId: string) =>
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

export const insertNotification = changeRows((on, notification: NewRowOf<typeof notifications>) =>
  on.insertInto('alert_notifications').values(notifications.values(notification)),
)

/** The state of the alert as each receiver knows it. */
export async function listNotifiedStates(
  queries: Queries,
  alertId: string,
): Promise<ReadonlyMap<string, NotifiedState & { readonly at: number }>> {
  const rows = await listNotifiedRows(queries, alertId)
  return new Map(rows.map((row) => [row.receiver, row]))
}

/** The state of each of the alerts as a receiver knows it. */
export async function listStatesNotifiedTo(
  queries: Queries,
  receiver: string,
  alertIds: readonly string[],
): Promise<ReadonlyMap<string, NotifiedState>> {
  const rows = await db(queries)
    .selectFrom('alert_told')
    .select(notifiedStates.pick('alertId', 'weight', 'status', 'textHash'))
    .where('receiver', '=', receiver)
    .where('alert_id', 'in', alertIds)
    .execute()
  return new Map(rows.map(({ alertId, ...row }) => [alertId, row]))
}

/** Whether the receiver was notified of each of the alerts at another time than that. */
export async function wasNotifiedSince(
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

/** Whoever was notified of the alert now knows its texts, and that it is not worse than this. */
export const recordKnown = changeRows((on, alertId: string, weight: AlertWeight, textHash: string) =>
  on
    .updateTable('alert_told')
    .set((row) => ({
      weight: row.case().when('weight', '>', weight).then(weight).else(row.ref('weight')).end(),
      text_hash: textHash,
    }))
    .where('alert_id', '=', alertId),
)

/** The last decision on a notification of an alert to a receiver. */
export const findLatest = readRow((on, alertId: string, channel: string) =>
  on
    .selectFrom('alert_notifications')
    .select(notifications.pick('outcome'))
    .where('alert_id', '=', alertId)
    .where('channel', '=', channel)
    .orderBy('seq', 'desc')
    .limit(1),
)

/** The newest decision against a notification while the alert fired; the end of the alert repeats its reason. */
export const findHeldBack = readRow(
  (on, alertId: string, channel: string) =>
    on
      .selectFrom('alert_notifications')
      .select(notifications.pick('outcome', 'reason', 'cause'))
      .where('alert_id', '=', alertId)
      .where('channel', '=', channel)
      .where('outcome', 'not in', NOTIFIED_LITERALS)
      .where('weight', '>', sql.lit(0))
      .orderBy('seq', 'desc')
      .limit(1),
  notifications.decode,
)

/** The pending notifications of an alert by receiver: what it may have got already, and what waits. */
export async function listPendingOf(queries: Queries, alertId: string) {
  const rows = await listPendingRows(queries, alertId)
  return new Map(
    [...Map.groupBy(rows, ({ channel }) => channel)].map(([receiver, pending]) => {
      const sent = pending.findLast(({ isSending }) => isSending === 1)
      return [
        receiver,
        {
          sending: sent && notifiedStateOf(notifications.decode(sent)),
          waiting: pending.filter(({ isSending }) => isSending === 0),
        },
      ]
    }),
  )
}

/** Gives a pending notification the present state of its alert. */
export const refreshPending = changeRows(
  (on, notification: Pick<WaitingNotification, 'id' | 'weight' | 'source' | 'content'>) =>
    on
      .updateTable('alert_notifications')
      .set(notifications.set(notification, 'weight', 'source', 'content'))
      .where('id', '=', notification.id)
      .where('outcome', '=', sql.lit('pending')),
)

/** A pending notification waits for another time, from now on. */
export const postponePending = changeRows(
  (on, id: string, wait: Decision & { readonly at: number; readonly dueAt: number }) =>
    on
      .updateTable('alert_notifications')
      .set(notifications.set(wait, 'at', 'dueAt', 'outcome', 'reason', 'cause'))
      .where('id', '=', id),
)

/** Decides a pending notification, which no message contains afterwards. */
export const decidePending = changeRows((on, id: string, decision: Decision) =>
  on
    .updateTable('alert_notifications')
    .set({ ...notifications.set(decision, 'outcome', 'reason', 'cause'), content: null, message_id: null })
    .where('id', '=', id)
    .where('outcome', '=', sql.lit('pending')),
)

/** A decision with that outcome on that occasion since the alert was frozen last. */
export const findDecisionInFreeze = readRow(
  (on, alertId: string, channel: string, occasion: OccasionKind, outcome: Outcome) =>
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
          .select((row) => row.fn.coalesce(row.fn.max<number>('seq'), sql<number>`0`).as('seq'))
          .where('alert_id', '=', alertId)
          .where('occasion', '=', sql.lit('frozen')),
      )
      .limit(1),
)

/** A decision on that occasion since the alert is quiet. */
export const findDecisionInQuiet = readRow(
  (on, alertId: string, channel: string, occasion: OccasionKind, quietSince: number) =>
    on
      .selectFrom('alert_notifications')
      .select('seq')
      .where('alert_id', '=', alertId)
      .where('channel', '=', channel)
      .where('occasion', '=', occasion)
      .where('outcome', '=', sql.lit('damped'))
      .where('at', '>=', quietSince)
      .limit(1),
)

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

export const saveDamping = changeRows((on, damping: NewRowOf<typeof dampings>) =>
  on
    .insertInto('alert_dampings')
    .values(dampings.values(damping))
    .onConflict((conflict) =>
      conflict.column('alert_id').doUpdateSet(dampings.setExcept(damping, 'alertId')),
    ),
)

export const deleteDamping = changeRows((on, alertId: string) =>
  on.deleteFrom('alert_dampings').where('alert_id', '=', alertId),
)

/** See `episodes`. */
export type Episode = RowOf<typeof episodes>

export const listEpisodes = readRows((on, alertId: string) =>
  on.selectFrom('alert_episodes').select(episodes.all).where('alert_id', '=', alertId),
)

export const saveEpisode = changeRows((on, episode: Episode) =>
  on
    .insertInto('alert_episodes')
    .values(episodes.values(episode))
    .onConflict((conflict) =>
      conflict.columns(['alert_id', 'route']).doUpdateSet(episodes.setExcept(episode, 'alertId', 'route')),
    ),
)

export const deleteEpisodes = changeRows((on, alertId: string) =>
  on.deleteFrom('alert_episodes').where('alert_id', '=', alertId),
)

/** The alerts with something that is due, or further away than ever: written before the clock was set back. */
export async function listDueAlertIds(
  queries: Queries,
  table: 'alert_episodes' | 'alert_dampings',
  now: number,
  far: number,
  limit: number,
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

/** The decisions on an alert, newest first. */
export const listDecisions = pages(
  { table: 'alert_notifications', createdAt: 'at' },
  (on) =>
    on
      .selectFrom('alert_notifications')
      .select(notifications.pick('seq', 'id', 'at', 'occasion', 'channel', 'outcome', 'reason', 'cause')),
  { alertId: (query, alertId: string) => query.where('alert_id', '=', alertId) },
  notifications.decode,
)
