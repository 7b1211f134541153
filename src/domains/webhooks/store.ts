import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import { sizeOf } from '../../store/pages.ts'
import type { Queries, Reads, Tx } from '../../store/store.ts'
import { queuedWork, WorkQueue } from '../../store/work/work-queue.ts'
import type { RowOf } from '../../store/columns.ts'
import {
  NOT_TRIED,
  type WebhookDelivery,
  type DeliveryStatus,
  type DeliveryStep,
  type StoredWebhook,
  type Webhook,
} from './model.ts'
import { db, deliveries, pages, webhooks, readRow, readRows, changeRow, changeRows } from './tables.ts'

export type WebhookRow = RowOf<typeof webhooks>

/** The queue of the endpoints: a process calls an endpoint while it holds its lease. */
export const webhookQueue = new WorkQueue('webhooks', webhooks)

const KEPT = webhooks.except('seq', 'dueAt', 'leaseHolder', 'attempts', 'queuedAt', 'trace')

const insert = changeRows((on, change: Omit<WebhookRow, 'seq'>) =>
  on.insertInto('webhooks').values(webhooks.values(change)),
)

const countPending = readRow((on) =>
  on
    .selectFrom('webhooks')
    .select((row) => row.fn.coalesce(row.fn.sum<number>('pending'), sql.lit(0)).as('pending')),
)

const setStep = changeRow((on, change: DeliveryStep & { id: string }) =>
  on
    .updateTable('webhook_deliveries')
    .set(
      deliveries.set(
        change,
        'status',
        'attempts',
        'dueAt',
        'firstTriedAt',
        'triedAt',
        'finishedAt',
        'responseStatus',
        'responseHeaders',
        'responseBody',
        'error',
      ),
    )
    .where('id', '=', change.id)
    .where('status', '=', sql.lit('pending')),
)

const nextDue = readRow((on, webhookId: string) =>
  on
    .selectFrom('webhook_deliveries')
    .select('due_at as dueAt')
    .where('webhook_id', '=', webhookId)
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1),
)

const DUE = deliveries.pick('id', 'place', 'eventId', 'thing', 'payload', 'attempts', 'firstTriedAt')

/** A delivery that is to be made now. */
export type Due = Pick<
  WebhookDelivery,
  'id' | 'place' | 'eventId' | 'thing' | 'payload' | 'attempts' | 'firstTriedAt'
>

const nextOwner = readRow((on, after: string) =>
  on
    .selectFrom('webhook_deliveries')
    .select('webhook_id as webhookId')
    .where('webhook_id', '>', after)
    .orderBy('webhook_id')
    .limit(1),
)

const EMPTY = {
  first_tried_at: NOT_TRIED.firstTriedAt,
  tried_at: NOT_TRIED.triedAt,
  finished_at: NOT_TRIED.finishedAt,
  response_status: NOT_TRIED.responseStatus,
  response_headers: NOT_TRIED.responseHeaders,
  response_body: NOT_TRIED.responseBody,
  error: NOT_TRIED.error,
}

export async function insertWebhook(tx: Tx, webhook: StoredWebhook): Promise<void> {
  await insert(tx, { ...webhook, ...queuedWork(webhook.createdAt), dueAt: null })
}

export async function countWebhooks(queries: Queries): Promise<number> {
  const [row] = await db(queries)
    .selectFrom('webhooks')
    .select((each) => each.fn.countAll<number>().as('webhooks'))
    .execute()
  return row?.webhooks ?? 0
}

export async function findWebhook(queries: Queries, id: string): Promise<StoredWebhook | undefined> {
  const row = await db(queries).selectFrom('webhooks').select(KEPT).where('id', '=', id).executeTakeFirst()
  return row && webhooks.decode(row)
}

/** Finds an endpoint and locks it until the end of the transaction: everything about its deliveries waits for that. */
export async function lockWebhook(tx: Tx, id: string): Promise<StoredWebhook | undefined> {
  const row = await db(tx)
    .selectFrom('webhooks')
    .select(KEPT)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && webhooks.decode(row)
}

/** Locks those of the endpoints that are enabled and at this place, in the order of their ids. */
export async function lockAtPlace(tx: Tx, ids: readonly string[], place: number): Promise<StoredWebhook[]> {
  const rows = await db(tx)
    .selectFrom('webhooks')
    .select(KEPT)
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
    .set(
      webhooks.set(
        webhook,
        'url',
        'subjects',
        'description',
        'ordered',
        'enabled',
        'disabledReason',
        'version',
        'updatedAt',
        'updatedBy',
        'failingSince',
        'lastSuccessAt',
        'pending',
        'secret',
        'formerSecret',
        'formerSecretUntil',
        'place',
        'pausedUntil',
        'recoverSince',
      ),
    )
    .where('id', '=', webhook.id),
)

/** A holder that has the lease learns of new work by itself. */
/** Lets the worker look at the endpoint at this time. */
export const setWebhookDue = changeRows((on, id: string, dueAt: number) =>
  on.updateTable('webhooks').set({ due_at: dueAt }).where('id', '=', id).where('lease_holder', 'is', null),
)

/** Ends what was pending in a restored database: the database that was backed up sends it. The events follow after `place`. */
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

const pageOfWebhooks = pages(
  { table: 'webhooks', createdAt: 'created_at', size: sizeOf('url', 'subjects', 'description') },
  (on) => on.selectFrom('webhooks').select(webhooks.all),
  {},
)

/** Newest first. */
export async function listWebhooks(reads: Reads, page: PageRequest): Promise<Page<Webhook>> {
  return mapPage(await pageOfWebhooks(reads, {}, page), webhooks.decode)
}

/** The enabled endpoints: those that the events are read for. */
export async function listEnabledWebhooks(queries: Queries): Promise<StoredWebhook[]> {
  const rows = await db(queries)
    .selectFrom('webhooks')
    .select(KEPT)
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute()
  return rows.map(webhooks.decode)
}

/** The number of events that endpoints have not got yet. */
export async function readPending(queries: Queries): Promise<number> {
  return (await countPending(queries))?.pending ?? 0
}

const pageOfDeliveries = pages(
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
)

/** Newest first. */
export async function listDeliveries(
  reads: Reads,
  filter: { readonly webhookId: string; readonly status?: DeliveryStatus },
  page: PageRequest,
): Promise<Page<WebhookDelivery>> {
  return mapPage(await pageOfDeliveries(reads, filter, page), deliveries.decode)
}

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

/** The places in a part of the log from which the endpoint has deliveries. */
export async function listPlaces(
  tx: Tx,
  webhookId: string,
  { after, through }: { readonly after: number; readonly through: number },
): Promise<Set<number>> {
  const rows = await db(tx)
    .selectFrom('webhook_deliveries')
    .select('place')
    .where('webhook_id', '=', webhookId)
    .where('place', '>', after)
    .where('place', '<=', through)
    .execute()
  return new Set(rows.map(({ place }) => place as number))
}

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
    .select(DUE)
    .where('webhook_id', '=', webhookId)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('seq')
    .limit(limit),
)

/** When the next delivery of the endpoint is due; null if there is none. */
export async function readNextDue(queries: Queries, webhookId: string): Promise<number | null> {
  return (await nextDue(queries, webhookId))?.dueAt ?? null
}

/** Records a call; `false` when the delivery is finished or removed. */
export async function recordStep(tx: Tx, id: string, step: DeliveryStep): Promise<boolean> {
  return await setStep(tx, { id, ...step })
}

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
    .set({ status: 'pending', attempts: 0, due_at: dueAt, ...EMPTY })
    .where('id', '=', id),
)

/** The oldest deliveries that have failed since a time. */
export function listFailed(
  tx: Tx,
  webhookId: string,
  since: number,
  limit: number,
): Promise<Pick<WebhookDelivery, 'id' | 'thing'>[]> {
  return db(tx)
    .selectFrom('webhook_deliveries')
    .select(['id', 'thing'])
    .where('webhook_id', '=', webhookId)
    .where('status', '=', sql.lit('failed'))
    .where('finished_at', '>=', since)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

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
export function deleteOldDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  return deleteSome(
    tx,
    db(tx)
      .selectFrom('webhook_deliveries')
      .select('seq')
      .where('finished_at', '<', before)
      .orderBy('finished_at')
      .limit(limit),
  )
}

/** Removes one batch of the deliveries of a deleted endpoint; returns how many. */
export async function deleteOrphans(tx: Tx, limit: number): Promise<number> {
  const owner = await findDeletedOwner(tx)
  if (owner === undefined) return 0
  const selected = db(tx).selectFrom('webhook_deliveries').select('seq').where('webhook_id', '=', owner)
  return deleteSome(tx, selected.limit(limit))
}

/** Steps from one owner to the next by the index: there are few owners, and many deliveries. */
async function findDeletedOwner(tx: Tx): Promise<string | undefined> {
  const known = new Set((await db(tx).selectFrom('webhooks').select('id').execute()).map(({ id }) => id))
  for (let after = ''; ;) {
    const row = await nextOwner(tx, after)
    if (!row || !known.has(row.webhookId)) return row?.webhookId
    after = row.webhookId
  }
}

async function deleteSome(tx: Tx, selected: { execute(): Promise<{ seq: number }[]> }): Promise<number> {
  const seqs = (await selected.execute()).map(({ seq }) => seq)
  if (seqs.length > 0) await db(tx).deleteFrom('webhook_deliveries').where('seq', 'in', seqs).execute()
  return seqs.length
}
