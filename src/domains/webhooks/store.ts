import { sql } from 'kysely'
import type { NewRowOf, RowOf } from '../../store/columns.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Tx } from '../../store/store.ts'
import { WORK_COLUMN_NAMES, WorkQueue } from '../../store/work/work-queue.ts'
import {
  NOT_TRIED,
  type DeliveryStatus,
  type DeliveryStep,
  type StoredWebhook,
  type WebhookDelivery,
} from './model.ts'
import {
  deliveries,
  webhooks,
  changeRow,
  changeRows,
  db,
  lockable,
  pages,
  readRow,
  readRows,
} from './tables.ts'

export type WebhookRow = RowOf<typeof webhooks>

/** The queue of the endpoints: a process calls an endpoint while it holds its lease. */
export const webhookQueue = new WorkQueue('webhooks', webhooks)

const WEBHOOK = webhooks.except('seq', ...WORK_COLUMN_NAMES)

export const insertWebhook = changeRows((on, webhook: NewRowOf<typeof webhooks>) =>
  on.insertInto('webhooks').values(webhooks.values(webhook)),
)

export const countWebhooks = readRow((on) =>
  on.selectFrom('webhooks').select((row) => row.fn.countAll<number>().as('webhooks')),
)

/** A webhook that is locked keeps everything about its deliveries waiting until the end of the transaction. */
export const [findWebhook, lockWebhook] = lockable(
  (on, id: string) => on.selectFrom('webhooks').select(WEBHOOK).where('id', '=', id),
  webhooks.decode,
)

/** Locks those of the endpoints that are enabled and at this place, in the order of their ids. */
export async function lockAtPlace(tx: Tx, ids: readonly string[], place: number): Promise<StoredWebhook[]> {
  const rows = await db(tx)
    .selectFrom('webhooks')
    .select(WEBHOOK)
    .where('id', 'in', ids)
    .where('place', '=', place)
    .where('enabled', '=', 1)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(webhooks.decode)
}

/** Writes a changed endpoint; the transaction must have locked it. */
export const updateWebhook = changeRows((on, webhook: StoredWebhook) =>
  on
    .updateTable('webhooks')
    .set(webhooks.setExcept(webhook, 'id', 'createdAt', 'createdBy', ...WORK_COLUMN_NAMES))
    .where('id', '=', webhook.id),
)

/** Lets the worker look at the endpoint at this time. A process that has its lease learns of new work by itself. */
export const setWebhookDue = changeRows((on, id: string, dueAt: number) =>
  on.updateTable('webhooks').set({ due_at: dueAt }).where('id', '=', id).where('lease_holder', 'is', null),
)

/**
 * Ends the pending deliveries of a restored database, because the database that was backed up sends them. Later events are
 * read after `place`.
 */
export async function interruptDeliveries(tx: Tx, now: number, place: number): Promise<void> {
  await db(tx)
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', error: 'interrupted', due_at: null, finished_at: now })
    .where('status', '=', 'pending')
    .execute()
  await db(tx)
    .updateTable('webhooks')
    .set({ place, pending: 0, recover_since: null, due_at: null, lease_holder: null })
    .execute()
}

/**
 * Makes all endpoints due now, and deliveries whose due time was written by a clock that has been set back since; ends the
 * pauses that last beyond `far`.
 */
export async function hastenAll(tx: Tx, now: number, far: number): Promise<void> {
  await db(tx)
    .updateTable('webhook_deliveries')
    .set({ due_at: now })
    .where('due_at', '>', now)
    .where('tried_at', '>', now)
    .execute()
  await db(tx)
    .updateTable('webhooks')
    .set({ due_at: now })
    .where('due_at', '>', now)
    .where('lease_holder', 'is', null)
    .execute()
  await db(tx).updateTable('webhooks').set({ paused_until: null }).where('paused_until', '>', far).execute()
}

/** Deletes the endpoint alone; {@link deleteOrphans} removes its deliveries. */
export const deleteWebhook = changeRows((on, id: string) => on.deleteFrom('webhooks').where('id', '=', id))

/** Newest first. */
export const listWebhooks = pages(
  { table: 'webhooks', createdAt: 'created_at', size: sizeOf('url', 'subjects', 'description') },
  (on) => on.selectFrom('webhooks').select(webhooks.all),
  {},
  webhooks.decode,
)

/** The enabled endpoints: those that the events are read for. */
export const listEnabledWebhooks = readRows(
  (on) => on.selectFrom('webhooks').select(WEBHOOK).where('enabled', '=', 1).orderBy('id'),
  webhooks.decode,
)

/** The number of events that endpoints have not got yet. */
export const countUndelivered = readRow((on) =>
  on
    .selectFrom('webhooks')
    .select((row) => row.fn.coalesce(row.fn.sum<number>('pending'), sql.lit(0)).as('pending')),
)

/** Newest first. */
export const listDeliveries = pages(
  {
    table: 'webhook_deliveries',
    createdAt: 'created_at',
    literals: ['status'],
    size: sizeOf('response_body', 'response_headers', 'type'),
  },
  (on) => on.selectFrom('webhook_deliveries').select(deliveries.all),
  {
    webhookId: (query, webhookId: string) => query.where('webhook_id', '=', webhookId),
    status: (query, status: DeliveryStatus) => query.where('status', '=', sql.lit(status)),
  },
  deliveries.decode,
)

export const findDelivery = readRow(
  (on, webhookId: string, id: string) =>
    on
      .selectFrom('webhook_deliveries')
      .select(deliveries.except('seq'))
      .where('webhook_id', '=', webhookId)
      .where('id', '=', id),
  deliveries.decode,
)

export const insertDelivery = changeRows((on, delivery: WebhookDelivery) =>
  on.insertInto('webhook_deliveries').values(deliveries.values(delivery)),
)

/** Inserts deliveries in their order. */
export async function insertDeliveries(tx: Tx, created: readonly WebhookDelivery[]): Promise<void> {
  if (created.length === 0) return
  const rows = created.map((delivery) => deliveries.values(delivery))
  await db(tx).insertInto('webhook_deliveries').values(rows).execute()
}

/** The places in a part of the log, after one and through another, from which the endpoint has deliveries. */
export const listPlaces = readRows((on, webhookId: string, after: number, through: number) =>
  on
    .selectFrom('webhook_deliveries')
    .select('place')
    .where('webhook_id', '=', webhookId)
    .where('place', '>', after)
    .where('place', '<=', through),
)

/** Which of the things have a delivery that is not finished. */
export async function listPendingThings(
  tx: Tx,
  webhookId: string,
  things: readonly string[],
): Promise<Set<string>> {
  if (things.length === 0) return new Set()
  const rows = await db(tx)
    .selectFrom('webhook_deliveries')
    .select('thing')
    .distinct()
    .where('webhook_id', '=', webhookId)
    .where('thing', 'in', things)
    .where('status', '=', sql.lit('pending'))
    .execute()
  return new Set(rows.map(({ thing }) => thing))
}

/** The deliveries that are due, the longest due first. */
export const listDueDeliveries = readRows((on, webhookId: string, now: number, limit: number) =>
  on
    .selectFrom('webhook_deliveries')
    .select(deliveries.pick('id', 'place', 'eventId', 'thing', 'payload', 'attempts', 'firstTriedAt'))
    .where('webhook_id', '=', webhookId)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('seq')
    .limit(limit),
)

/** A delivery that is to be made now. */
export type Due = Awaited<ReturnType<typeof listDueDeliveries>>[number]

/** The delivery of the endpoint that is due next. */
export const findNextDue = readRow((on, webhookId: string) =>
  on
    .selectFrom('webhook_deliveries')
    .select('due_at as dueAt')
    .where('webhook_id', '=', webhookId)
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1),
)

/** What a delivery knows of its calls. */
const ANSWER = Object.keys(NOT_TRIED) as (keyof typeof NOT_TRIED)[]

/** Records a call; `false` when the delivery is finished or removed. */
export const recordStep = changeRow((on, id: string, step: DeliveryStep) =>
  on
    .updateTable('webhook_deliveries')
    .set(deliveries.set(step, 'status', 'attempts', 'dueAt', ...ANSWER))
    .where('id', '=', id)
    .where('status', '=', sql.lit('pending')),
)

/** Makes the next delivery of a thing due now, when the one before it is finished. */
export const releaseThing = changeRows((on, webhookId: string, thing: string, now: number) =>
  on
    .updateTable('webhook_deliveries')
    .set({ due_at: now })
    .where('due_at', 'is', null)
    .where('seq', '=', (next) =>
      next
        .selectFrom('webhook_deliveries')
        .select('seq')
        .where('webhook_id', '=', webhookId)
        .where('thing', '=', thing)
        .where('status', '=', sql.lit('pending'))
        .orderBy('seq')
        .limit(1),
    ),
)

/** Makes a delivery pending as if it were new. */
export const requeueDelivery = changeRows((on, id: string, dueAt: number | null) =>
  on
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', attempts: 0, due_at: dueAt, ...deliveries.set(NOT_TRIED, ...ANSWER) })
    .where('id', '=', id),
)

/** The oldest deliveries that have failed since a time. */
export const listFailed = readRows((on, webhookId: string, since: number, limit: number) =>
  on
    .selectFrom('webhook_deliveries')
    .select(['id', 'thing'])
    .where('webhook_id', '=', webhookId)
    .where('status', '=', sql.lit('failed'))
    .where('finished_at', '>=', since)
    .orderBy('seq')
    .limit(limit),
)

/** Lets every pending delivery be tried now; of a thing with an order, its first one. */
export async function hastenDeliveries(
  tx: Tx,
  { id, ordered }: Pick<StoredWebhook, 'id' | 'ordered'>,
  now: number,
): Promise<void> {
  const pending = db(tx)
    .updateTable('webhook_deliveries')
    .set({ due_at: now })
    .where('webhook_id', '=', id)
    .where('status', '=', sql.lit('pending'))
  await pending.where('due_at', '>', now).execute()
  if (!ordered) await pending.where('due_at', 'is', null).execute()
}

/** Removes one batch of the deliveries that were finished before a time; returns how many. */
export const deleteOldDeliveries = changeRows((on, before: number, limit: number) =>
  on
    .deleteFrom('webhook_deliveries')
    .where('seq', 'in', (old) =>
      old
        .selectFrom('webhook_deliveries')
        .select('seq')
        .where('finished_at', '<', before)
        .orderBy('finished_at')
        .limit(limit),
    ),
)

const deleteDeliveriesOf = changeRows((on, webhookId: string, limit: number) =>
  on
    .deleteFrom('webhook_deliveries')
    .where('seq', 'in', (orphaned) =>
      orphaned
        .selectFrom('webhook_deliveries')
        .select('seq')
        .where('webhook_id', '=', webhookId)
        .limit(limit),
    ),
)

/** Removes one batch of the deliveries of a deleted endpoint; returns how many. */
export async function deleteOrphans(tx: Tx, limit: number): Promise<number> {
  const owner = await findDeletedOwner(tx)
  return owner === undefined ? 0 : deleteDeliveriesOf(tx, owner, limit)
}

const findNextOwner = readRow((on, after: string) =>
  on
    .selectFrom('webhook_deliveries')
    .select('webhook_id as webhookId')
    .where('webhook_id', '>', after)
    .orderBy('webhook_id')
    .limit(1),
)

/** Steps from one owner to the next by the index: there are few owners, and many deliveries. */
async function findDeletedOwner(tx: Tx): Promise<string | undefined> {
  const known = new Set((await db(tx).selectFrom('webhooks').select('id').execute()).map(({ id }) => id))
  for (let after = ''; ;) {
    const row = await findNextOwner(tx, after)
    if (!row || !known.has(row.webhookId)) return row?.webhookId
    after = row.webhookId
  }
}
