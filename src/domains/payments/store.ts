import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import type { AnyQuery } from '../../store/pages.ts'
import type { Queries, Reads, Tx } from '../../store/store.ts'
import { WorkQueue } from '../../store/work/work-queue.ts'
import type { Attention, Payment, PaymentStatus, Refund, RefundStatus } from './model.ts'
import {
  db,
  pages,
  paymentCallbacks,
  paymentHistory,
  paymentRefunds,
  payments,
  readRow,
  readRows,
  changeRow,
  changeRows,
} from './tables.ts'

export type PaymentRow = RowOf<typeof payments>
export type RefundRow = RowOf<typeof paymentRefunds>

export const paymentQueue = new WorkQueue('payments', payments)
export const refundQueue = new WorkQueue('payment_refunds', paymentRefunds)

const find = readRow((on, id: string) => on.selectFrom('payments').select(payments.all).where('id', '=', id))

const findByNumber = readRow((on, number: string) =>
  on.selectFrom('payments').select(payments.all).where('number', '=', number),
)

const lockById = readRow((on, id: string) =>
  on.selectFrom('payments').select(payments.all).where('id', '=', id).forUpdate(),
)

const unfinishedOf = readRow((on, orderId: string, channel: string) =>
  on
    .selectFrom('payments')
    .select(payments.all)
    .where('order_id', '=', orderId)
    .where('channel', '=', channel)
    .where(sql<boolean>`status in ('creating', 'open')`),
)

const otherPaid = readRow((on, orderId: string, id: string) =>
  on
    .selectFrom('payments')
    .select('id')
    .where('order_id', '=', orderId)
    .where('status', '=', sql.lit('paid'))
    .where('attention', 'is', null)
    .where('id', '<>', id)
    .limit(1),
)

// A row with a lease gets its time from the runner that has the lease.
const dueUnlessLeased = (dueAt: number | null) =>
  sql<number | null>`case when lease_holder is null then cast(${dueAt} as bigint) else due_at end`

const move = changeRow((on, change: PaymentRow & { from: PaymentStatus }) =>
  on
    .updateTable('payments')
    .set({
      ...payments.set(
        change,
        'status',
        'providerId',
        'paidCents',
        'attention',
        'paidAt',
        'closedAt',
        'failedReason',
        'actionType',
        'actionUrl',
        'actionExpiresAt',
        'version',
      ),
      due_at: dueUnlessLeased(change.dueAt),
    })
    .where('id', '=', change.id)
    .where('status', '=', change.from),
)

type SettledColumn = 'id' | 'reservedCents' | 'refundedCents' | 'attention' | 'hasFailedRefund' | 'version'

const recordEvent = changeRow((on, row: NewRowOf<typeof paymentCallbacks>) =>
  on
    .insertInto('payment_callbacks')
    .values(paymentCallbacks.values(row))
    .onConflict((conflict) => conflict.columns(['channel', 'event_id']).doNothing()),
)

const oldestCreating = readRow((on) =>
  on
    .selectFrom('payments')
    .select('created_at as createdAt')
    .where('status', '=', sql.lit('creating'))
    .orderBy('seq')
    .limit(1),
)

// As the index payments_need_person has it, and `needsPerson` in TypeScript.
const NEEDS_PERSON = sql<boolean>`(attention is not null or has_failed_refund = 1)`

// The count stops at this number.
const MOST_COUNTED = 1_000

const attentionSummary = readRow((on) =>
  on
    .selectFrom((query) =>
      query
        .selectFrom('payments')
        .select('created_at')
        .where(NEEDS_PERSON)
        .orderBy('seq')
        .limit(sql.lit(MOST_COUNTED))
        .as('some'),
    )
    .select([
      sql<number>`cast(count(*) as integer)`.as('attention'),
      sql<number | null>`min(created_at)`.as('oldestAt'),
    ]),
)

const failedRefundSince = readRow((on, paymentId: string, since: number) =>
  on
    .selectFrom('payment_refunds')
    .select('id')
    .where('payment_id', '=', paymentId)
    .where('status', '=', 'failed')
    .where('finished_at', '>=', since)
    .limit(1),
)

const findRefundByNumber = readRow((on, number: string) =>
  on.selectFrom('payment_refunds').select(paymentRefunds.all).where('number', '=', number),
)

const moveRefundRow = changeRow((on, change: RefundRow & { from: RefundStatus }) =>
  on
    .updateTable('payment_refunds')
    .set(paymentRefunds.set(change, 'status', 'providerId', 'failedReason', 'finishedAt', 'isSent'))
    .where('id', '=', change.id)
    .where('status', '=', change.from),
)

type StoredPayment = Omit<PaymentRow, 'isClosing' | 'hasFailedRefund'> & {
  readonly isClosing: number
  readonly hasFailedRefund: number
}
type StoredRefund = Omit<RefundRow, 'isSent'> & { readonly isSent: number }

const toPayment = (row: StoredPayment | undefined): PaymentRow | undefined => row && payments.decode(row)
const toRefund = (row: StoredRefund | undefined): RefundRow | undefined => row && paymentRefunds.decode(row)

/** `false` when an unfinished payment of the order on that channel, or its number, exists already. */
export const insertPayment = changeRow((on, payment: NewRowOf<typeof payments>) =>
  on
    .insertInto('payments')
    .values(payments.values(payment))
    .onConflict((conflict) => conflict.doNothing()),
)

export async function findPayment(queries: Reads, id: string): Promise<PaymentRow | undefined> {
  return toPayment(await find(queries, id))
}

export async function findPaymentByNumber(queries: Reads, number: string): Promise<PaymentRow | undefined> {
  return toPayment(await findByNumber(queries, number))
}

export async function lockPayment(tx: Tx, id: string): Promise<PaymentRow | undefined> {
  return toPayment(await lockById(tx, id))
}

/** The payment of an order on a channel that is creating or open. */
export async function findUnfinished(
  queries: Reads,
  orderId: string,
  channel: string,
): Promise<PaymentRow | undefined> {
  return toPayment(await unfinishedOf(queries, orderId, channel))
}

/**
 * The payments of these orders. Beside several orders a database takes the status for the rarer condition, and would read
 * all payments of the status: the caller chooses.
 */
export async function listOfOrders(queries: Queries, orderIds: readonly string[]): Promise<PaymentRow[]> {
  const rows = await db(queries)
    .selectFrom('payments')
    .select(payments.all)
    .where('order_id', 'in', orderIds)
    .execute()
  return rows.map((row) => payments.decode(row as StoredPayment))
}

export async function isPaidByAnother(queries: Reads, orderId: string, id: string): Promise<boolean> {
  return (await otherPaid(queries, orderId, id)) !== undefined
}

/** Compare-and-set: `false`, and nothing changes, when the payment has left the status `from`. */
export async function movePayment(tx: Tx, from: PaymentStatus, payment: PaymentRow): Promise<boolean> {
  return await move(tx, { ...payment, from })
}

export const setPaymentDue = changeRows((on, id: string, dueAt: number | null) =>
  on.updateTable('payments').set({ due_at: dueAt }).where('id', '=', id).where('lease_holder', 'is', null),
)

export const markClosing = changeRows((on, id: string) =>
  on
    .updateTable('payments')
    .set({ is_closing: 1 })
    .where('id', '=', id)
    .where(sql<boolean>`status in ('creating', 'open')`),
)

/** The unfinished payments of an order are to be closed now; returns how many. */
export const markOrderClosing = changeRows((on, orderId: string, now: number) =>
  on
    .updateTable('payments')
    .set({
      is_closing: 1,
      due_at: dueUnlessLeased(now),
    })
    .where('order_id', '=', orderId)
    .where(sql<boolean>`status in ('creating', 'open')`),
)

export const reserveCents = changeRows((on, id: string, cents: number) =>
  on
    .updateTable('payments')
    .set({ reserved_cents: sql`reserved_cents + ${cents}` })
    .where('id', '=', id),
)

export const updateRefunded = changeRows((on, payment: Pick<PaymentRow, SettledColumn>) =>
  on
    .updateTable('payments')
    .set(payments.set(payment, 'reservedCents', 'refundedCents', 'attention', 'hasFailedRefund', 'version'))
    .where('id', '=', payment.id),
)

/** Nobody needs to look at the payment any more. */
export const markResolved = changeRows((on, id: string) =>
  on
    .updateTable('payments')
    .set({ attention: null, has_failed_refund: 0, version: NEXT_VERSION })
    .where('id', '=', id),
)

export const appendChange = changeRows((on, change: NewRowOf<typeof paymentHistory>) =>
  on.insertInto('payment_history').values(paymentHistory.values(change)),
)

/** Oldest first. */
export const listPaymentChanges = readRows((on, paymentId: string) =>
  on
    .selectFrom('payment_history')
    .select(paymentHistory.pick('at', 'change', 'actor', 'note'))
    .where('payment_id', '=', paymentId)
    .orderBy('seq')
    .limit(1_000),
)

/** `false` when the event is recorded already. */
export async function recordCallback(
  tx: Tx,
  channel: string,
  eventId: string,
  receivedAt: number,
): Promise<boolean> {
  return await recordEvent(tx, { channel, eventId, receivedAt })
}

/** Forgets some of the events that were received before a time; returns how many. */
export const forgetCallbacks = changeRows((on, before: number, limit: number) =>
  on.deleteFrom('payment_callbacks').where(
    sql<boolean>`(channel, event_id) in (select channel, event_id from payment_callbacks
        where received_at < ${before} order by received_at limit ${limit})`,
  ),
)

/** When the oldest payment whose creation is not clear was requested. */
export async function oldestCreatingAt(reads: Reads): Promise<number | undefined> {
  return (await oldestCreating(reads))?.createdAt
}

/** The newest payments of a channel since that time, newest first. */
export const listLatest = readRows(
  (on, given: { readonly channel: string; readonly since: number; readonly limit: number }) =>
    on
      .selectFrom('payments')
      .select(payments.pick('status', 'failedReason', 'createdAt', 'actionType'))
      .where('channel', '=', given.channel)
      .where('created_at', '>', given.since)
      .orderBy('seq', 'desc')
      .limit(given.limit),
)

/** How many payments need a person, and when the oldest of them was created. */
export async function countAttention(
  reads: Reads,
): Promise<{ readonly attention: number; readonly oldestAt: number | null }> {
  return (await attentionSummary(reads)) ?? { attention: 0, oldestAt: null }
}

export const insertRefund = changeRows((on, refund: NewRowOf<typeof paymentRefunds>) =>
  on.insertInto('payment_refunds').values(paymentRefunds.values(refund)),
)

export async function findRefund(reads: Reads, number: string): Promise<RefundRow | undefined> {
  return toRefund(await findRefundByNumber(reads, number))
}

/** Whether a refund of the payment has failed at this time or later. */
export async function hasFailedRefundSince(reads: Reads, paymentId: string, since: number): Promise<boolean> {
  return (await failedRefundSince(reads, paymentId, since)) !== undefined
}

/** Compare-and-set, as {@link movePayment}. */
export async function moveRefund(tx: Tx, from: RefundStatus, refund: RefundRow): Promise<boolean> {
  return await moveRefundRow(tx, { ...refund, from })
}

export const markRefundSent = changeRows((on, id: string, providerId: string | null) =>
  on.updateTable('payment_refunds').set({ is_sent: 1, provider_id: providerId }).where('id', '=', id),
)

export const setRefundDueAt = changeRows((on, id: string, dueAt: number | null) =>
  on
    .updateTable('payment_refunds')
    .set({ due_at: dueAt })
    .where('id', '=', id)
    .where('lease_holder', 'is', null),
)

/**
 * Stops what a restored database would do at the providers: the database that was backed up has done it, or does it still. What
 * was unfinished is closed here alone, and can still be paid. Refunds are asked for, and not sent again.
 */
export async function restorePayments(tx: Tx, now: number): Promise<void> {
  await db(tx)
    .insertInto('payment_history')
    .columns(['payment_id', 'at', 'change', 'actor', 'note'])
    .expression((query) =>
      query
        .selectFrom('payments')
        .select([
          'id',
          sql<number>`cast(${now} as bigint)`.as('at'),
          sql<string>`'closed'`.as('change'),
          sql<string>`'command-line'`.as('actor'),
          sql<string>`'restored'`.as('note'),
        ])
        .where('status', 'in', ['creating', 'open']),
    )
    .execute()
  const idle = { due_at: null, lease_holder: null, action_expires_at: null }
  await db(tx)
    .updateTable('payments')
    .set({ ...idle, status: 'closed', closed_at: now })
    .where('status', 'in', ['creating', 'open'])
    .execute()
  await db(tx).updateTable('payments').set(idle).where('status', '=', 'closed').execute()
  await db(tx)
    .updateTable('payment_refunds')
    .set({ is_sent: 1, queued_at: 0, due_at: now, lease_holder: null })
    .where('status', '=', 'pending')
    .execute()
}

export interface PaymentFilter {
  readonly status?: PaymentStatus | readonly PaymentStatus[]
  readonly channel?: string
  readonly orderId?: string
  readonly attention?: Attention | 'any'
}

const readPayments = pages(
  { table: 'payments', createdAt: 'created_at', literals: ['status', 'attention'] },
  (on) => on.selectFrom('payments').select(payments.except(...hiddenColumns())),
  {
    status: (query: AnyQuery, status: PaymentStatus) => query.where('status', '=', status),
    channel: (query: AnyQuery, channel: string) => query.where('channel', '=', channel),
    orderId: (query: AnyQuery, orderId: string) => query.where('order_id', '=', orderId),
    attention: (query: AnyQuery, attention: Attention | 'any') => {
      const some = query.where(NEEDS_PERSON)
      return attention === 'any' ? some : some.where('attention', '=', attention)
    },
  },
)

function hiddenColumns() {
  return [
    'parameters',
    'reservedCents',
    'createdBy',
    'isClosing',
    'actionType',
    'actionUrl',
    'actionExpiresAt',
    'orderEndsAt',
    'dueAt',
    'leaseHolder',
    'attempts',
    'queuedAt',
    'trace',
  ] as const
}

/** A payment in a list. */
export type ListedPayment = Pick<
  Payment,
  | 'id'
  | 'orderId'
  | 'channel'
  | 'status'
  | 'amountCents'
  | 'currency'
  | 'number'
  | 'providerId'
  | 'paidCents'
  | 'refundedCents'
  | 'attention'
  | 'hasFailedRefund'
  | 'createdAt'
  | 'paidAt'
  | 'closedAt'
  | 'failedReason'
  | 'version'
>

/** Newest first. */
export async function listPayments(
  reads: Reads,
  filter: PaymentFilter,
  page: PageRequest,
): Promise<Page<ListedPayment>> {
  return mapPage(await readPayments(reads, filter, page), payments.decode)
}

const readRefunds = pages(
  { table: 'payment_refunds', createdAt: 'created_at' },
  (on) =>
    on
      .selectFrom('payment_refunds')
      .select(paymentRefunds.except('isSent', 'dueAt', 'leaseHolder', 'attempts', 'queuedAt', 'trace')),
  { paymentId: (query: AnyQuery, paymentId: string) => query.where('payment_id', '=', paymentId) },
)

export type ListedRefund = Omit<Refund, 'isSent'>

/** The refunds of a payment, newest first. */
export function listRefunds(
  reads: Reads,
  filter: { readonly paymentId: string },
  page: PageRequest,
): Promise<Page<ListedRefund>> {
  return readRefunds(reads, filter, page)
}
