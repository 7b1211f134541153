import { sql } from 'kysely'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { WORK_COLUMN_NAMES, WorkQueue } from '../../store/work/work-queue.ts'
import type { Attention, PaymentStatus, RefundStatus } from './model.ts'
import {
  paymentCallbacks,
  paymentHistory,
  paymentRefunds,
  payments,
  changeRow,
  changeRows,
  db,
  lockable,
  pages,
  readRow,
  readRows,
} from './tables.ts'

export type PaymentRow = RowOf<typeof payments>
export type RefundRow = RowOf<typeof paymentRefunds>

export const paymentQueue = new WorkQueue('payments', payments)
export const refundQueue = new WorkQueue('payment_refunds', paymentRefunds)

// As the index payments_open has it, and `isUnfinished` in TypeScript.
const IS_UNFINISHED = sql<boolean>`status in ('creating', 'open')`

/** `false` when an unfinished payment of the order on that channel, or its number, exists already. */
export const insertPayment = changeRow((on, payment: NewRowOf<typeof payments>) =>
  on
    .insertInto('payments')
    .values(payments.values(payment))
    .onConflict((conflict) => conflict.doNothing()),
)

export const [findPayment, lockPayment] = lockable(
  (on, id: string) => on.selectFrom('payments').select(payments.all).where('id', '=', id),
  payments.decode,
)

export const findPaymentByNumber = readRow(
  (on, number: string) => on.selectFrom('payments').select(payments.all).where('number', '=', number),
  payments.decode,
)

/** The payment of an order on a channel that is creating or open. */
export const findUnfinished = readRow(
  (on, orderId: string, channel: string) =>
    on
      .selectFrom('payments')
      .select(payments.all)
      .where('order_id', '=', orderId)
      .where('channel', '=', channel)
      .where(IS_UNFINISHED),
  payments.decode,
)

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
  return rows.map(payments.decode)
}

/** Another payment that has paid the order and needs no person. */
export const findOtherPaid = readRow((on, orderId: string, id: string) =>
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

/** Compare-and-set: `false`, and nothing changes, when the payment has left the status `from`. */
export const movePayment = changeRow((on, from: PaymentStatus, payment: PaymentRow) =>
  on
    .updateTable('payments')
    .set({
      ...payments.set(
        payment,
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
      due_at: dueUnlessLeased(payment.dueAt),
    })
    .where('id', '=', payment.id)
    .where('status', '=', from),
)

export const setPaymentDue = changeRows((on, id: string, dueAt: number | null) =>
  on.updateTable('payments').set({ due_at: dueAt }).where('id', '=', id).where('lease_holder', 'is', null),
)

export const markClosing = changeRows((on, id: string) =>
  on.updateTable('payments').set({ is_closing: 1 }).where('id', '=', id).where(IS_UNFINISHED),
)

/** The unfinished payments of an order are to be closed now; returns how many. */
export const markOrderClosing = changeRows((on, orderId: string, now: number) =>
  on
    .updateTable('payments')
    .set({ is_closing: 1, due_at: dueUnlessLeased(now) })
    .where('order_id', '=', orderId)
    .where(IS_UNFINISHED),
)

export const reserveCents = changeRows((on, id: string, cents: number) =>
  on
    .updateTable('payments')
    .set({ reserved_cents: sql`reserved_cents + ${cents}` })
    .where('id', '=', id),
)

export const updateRefunded = changeRows((on, payment: PaymentRow) =>
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
export const recordCallback = changeRow((on, callback: NewRowOf<typeof paymentCallbacks>) =>
  on
    .insertInto('payment_callbacks')
    .values(paymentCallbacks.values(callback))
    .onConflict((conflict) => conflict.columns(['channel', 'event_id']).doNothing()),
)

/** Forgets some of the events that were received before a time; returns how many. */
export const forgetCallbacks = changeRows((on, before: number, limit: number) =>
  on.deleteFrom('payment_callbacks').where(
    sql<boolean>`(channel, event_id) in (select channel, event_id from payment_callbacks
        where received_at < ${before} order by received_at limit ${limit})`,
  ),
)

/** The oldest payment whose creation is not clear. */
export const findOldestCreating = readRow((on) =>
  on
    .selectFrom('payments')
    .select('created_at as createdAt')
    .where('status', '=', sql.lit('creating'))
    .orderBy('seq')
    .limit(1),
)

/** The newest payments of a channel since that time, newest first. */
export const listLatest = readRows((on, channel: string, since: number, limit: number) =>
  on
    .selectFrom('payments')
    .select(payments.pick('status', 'failedReason', 'createdAt', 'actionType'))
    .where('channel', '=', channel)
    .where('created_at', '>', since)
    .orderBy('seq', 'desc')
    .limit(limit),
)

// As the index payments_need_person has it, and `needsPerson` in TypeScript.
const NEEDS_PERSON = sql<boolean>`(attention is not null or has_failed_refund = 1)`

// The count stops at this number.
const MOST_COUNTED = 1_000

/** How many payments need a person, and when the oldest of them was created. */
export const countAttention = readRow((on) =>
  on
    .selectFrom((query) =>
      query
        .selectFrom('payments')
        .select('created_at')
        .where(NEEDS_PERSON)
        .orderBy('seq')
        .limit(sql.lit(MOST_COUNTED))
        .as('oldest'),
    )
    .select([
      sql<number>`cast(count(*) as integer)`.as('attention'),
      sql<number | null>`min(created_at)`.as('oldestAt'),
    ]),
)

export const insertRefund = changeRows((on, refund: NewRowOf<typeof paymentRefunds>) =>
  on.insertInto('payment_refunds').values(paymentRefunds.values(refund)),
)

export const findRefund = readRow(
  (on, number: string) =>
    on.selectFrom('payment_refunds').select(paymentRefunds.all).where('number', '=', number),
  paymentRefunds.decode,
)

/** A refund of the payment that has failed at this time or later. */
export const findFailedRefundSince = readRow((on, paymentId: string, since: number) =>
  on
    .selectFrom('payment_refunds')
    .select('id')
    .where('payment_id', '=', paymentId)
    .where('status', '=', 'failed')
    .where('finished_at', '>=', since)
    .limit(1),
)

/** Compare-and-set, as {@link movePayment}. */
export const moveRefund = changeRow((on, from: RefundStatus, refund: RefundRow) =>
  on
    .updateTable('payment_refunds')
    .set(paymentRefunds.set(refund, 'status', 'providerId', 'failedReason', 'finishedAt', 'isSent'))
    .where('id', '=', refund.id)
    .where('status', '=', from),
)

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
  await sql`insert into payment_history (payment_id, at, change, actor, note)
    select id, cast(${now} as bigint), 'closed', 'command-line', 'restored' from payments
    where ${IS_UNFINISHED}`.execute(tx.db)
  const idle = { due_at: null, lease_holder: null, action_expires_at: null }
  await db(tx)
    .updateTable('payments')
    .set({ ...idle, status: 'closed', closed_at: now })
    .where(IS_UNFINISHED)
    .execute()
  await db(tx).updateTable('payments').set(idle).where('status', '=', 'closed').execute()
  await db(tx)
    .updateTable('payment_refunds')
    .set({ is_sent: 1, queued_at: 0, due_at: now, lease_holder: null })
    .where('status', '=', 'pending')
    .execute()
}

export interface PaymentFilter {
  readonly status?: PaymentStatus | readonly PaymentStatus[] | undefined
  readonly channel?: string | undefined
  readonly orderId?: string | undefined
  readonly attention?: Attention | 'any' | undefined
}

/** Newest first. */
export const listPayments = pages(
  { table: 'payments', createdAt: 'created_at', literals: ['status', 'attention'] },
  (on) => on.selectFrom('payments').select(payments.except('parameters', 'actionUrl', ...WORK_COLUMN_NAMES)),
  {
    status: (query, status: PaymentStatus) => query.where('status', '=', status),
    channel: (query, channel: string) => query.where('channel', '=', channel),
    orderId: (query, orderId: string) => query.where('order_id', '=', orderId),
    attention: (query, attention: Attention | 'any') => {
      const withPerson = query.where(NEEDS_PERSON)
      return attention === 'any' ? withPerson : withPerson.where('attention', '=', attention)
    },
  },
  payments.decode,
)

/** The refunds of a payment, newest first. */
export const listRefunds = pages(
  { table: 'payment_refunds', createdAt: 'created_at' },
  (on) => on.selectFrom('payment_refunds').select(paymentRefunds.all),
  { paymentId: (query, paymentId: string) => query.where('payment_id', '=', paymentId) },
)
