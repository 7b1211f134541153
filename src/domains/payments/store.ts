import { sql } from 'kysely'
import { mapPage, type Page, type PageRequest } from '../../kernel/page.ts'
import { NEXT_VERSION, type NewRowOf, type RowOf } from '../../store/columns.ts'
import { lockRows } from '../../store/locking.ts'
import { eachStatus, type AnyQuery } from '../../store/pages.ts'
import { first, type Queries, type Reads, type Tx } from '../../store/store.ts'
import { WorkQueue } from '../../store/work/work-queue.ts'
import type { Attention, Payment, PaymentChange, PaymentStatus, Refund, RefundStatus } from './model.ts'
import { db, pages, paymentCallbacks, paymentHistory, paymentRefunds, payments, statement } from './tables.ts'

export type PaymentRow = RowOf<typeof payments>
export type RefundRow = RowOf<typeof paymentRefunds>

export const paymentQueue = new WorkQueue('payments', payments)
export const refundQueue = new WorkQueue('payment_refunds', paymentRefunds)

const insert = statement<NewRowOf<typeof payments>>((on, value) =>
  on
    .insertInto('payments')
    .values(payments.values(value))
    .onConflict((conflict) => conflict.doNothing()),
)

const find = statement<{ id: string }, StoredPayment>((on, value) =>
  on.selectFrom('payments').select(payments.all).where('id', '=', value('id')),
)

const findByNumber = statement<{ number: string }, StoredPayment>((on, value) =>
  on.selectFrom('payments').select(payments.all).where('number', '=', value('number')),
)

const lockById = statement<{ id: string }, StoredPayment>((on, value, capabilities) =>
  on.selectFrom('payments').select(payments.all).where('id', '=', value('id')).$call(lockRows(capabilities)),
)

const unfinishedOf = statement<{ orderId: string; channel: string }, StoredPayment>((on, value) =>
  on
    .selectFrom('payments')
    .select(payments.all)
    .where('order_id', '=', value('orderId'))
    .where('channel', '=', value('channel'))
    .where(sql<boolean>`status in ('creating', 'open')`),
)

const latestOf = statement<
  { channel: string; since: number; limit: number },
  Pick<PaymentRow, 'status' | 'failedReason' | 'createdAt' | 'actionType'>
>((on, value) =>
  on
    .selectFrom('payments')
    .select(payments.pick('status', 'failedReason', 'createdAt', 'actionType'))
    .where('channel', '=', value('channel'))
    .where('created_at', '>', value('since'))
    .orderBy('seq', 'desc')
    .limit(value('limit')),
)

const otherPaid = statement<{ orderId: string; id: string }, { id: string }>((on, value) =>
  on
    .selectFrom('payments')
    .select('id')
    .where('order_id', '=', value('orderId'))
    .where('status', '=', sql.lit('paid'))
    .where('attention', 'is', null)
    .where('id', '<>', value('id'))
    .limit(1),
)

// A row with a lease gets its time from the runner that has the lease.
const dueUnlessLeased = (dueAt: number | null) =>
  sql<number | null>`case when lease_holder is null then cast(${dueAt} as bigint) else due_at end`

const move = statement<PaymentRow & { from: PaymentStatus }>((on, value) =>
  on
    .updateTable('payments')
    .set({
      ...payments.set(
        value,
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
      due_at: dueUnlessLeased(value('dueAt')),
    })
    .where('id', '=', value('id'))
    .where('status', '=', value('from')),
)

const setDue = statement<{ id: string; dueAt: number | null }>((on, value) =>
  on
    .updateTable('payments')
    .set({ due_at: value('dueAt') })
    .where('id', '=', value('id'))
    .where('lease_holder', 'is', null),
)

const requestClose = statement<{ id: string }>((on, value) =>
  on
    .updateTable('payments')
    .set({ is_closing: 1 })
    .where('id', '=', value('id'))
    .where(sql<boolean>`status in ('creating', 'open')`),
)

const requestCloseOfOrder = statement<{ orderId: string; now: number }>((on, value) =>
  on
    .updateTable('payments')
    .set({
      is_closing: 1,
      due_at: dueUnlessLeased(value('now')),
    })
    .where('order_id', '=', value('orderId'))
    .where(sql<boolean>`status in ('creating', 'open')`),
)

const reserve = statement<{ id: string; cents: number }>((on, value) =>
  on
    .updateTable('payments')
    .set({ reserved_cents: sql`reserved_cents + ${value('cents')}` })
    .where('id', '=', value('id')),
)

type SettledColumn = 'id' | 'reservedCents' | 'refundedCents' | 'attention' | 'hasFailedRefund' | 'version'

const settleRefunded = statement<Pick<PaymentRow, SettledColumn>>((on, value) =>
  on
    .updateTable('payments')
    .set(payments.set(value, 'reservedCents', 'refundedCents', 'attention', 'hasFailedRefund', 'version'))
    .where('id', '=', value('id')),
)

const resolve = statement<{ id: string }>((on, value) =>
  on
    .updateTable('payments')
    .set({ attention: null, has_failed_refund: 0, version: NEXT_VERSION })
    .where('id', '=', value('id')),
)

const insertChange = statement<NewRowOf<typeof paymentHistory>>((on, value) =>
  on.insertInto('payment_history').values(paymentHistory.values(value)),
)

const changesOf = statement<{ paymentId: string }, PaymentChange>((on, value) =>
  on
    .selectFrom('payment_history')
    .select(paymentHistory.pick('at', 'change', 'actor', 'note'))
    .where('payment_id', '=', value('paymentId'))
    .orderBy('seq')
    .limit(1_000),
)

const recordEvent = statement<NewRowOf<typeof paymentCallbacks>>((on, value) =>
  on
    .insertInto('payment_callbacks')
    .values(paymentCallbacks.values(value))
    .onConflict((conflict) => conflict.columns(['channel', 'event_id']).doNothing()),
)

const forgetEvents = statement<{ before: number; limit: number }>((on, value) =>
  on.deleteFrom('payment_callbacks').where(
    sql<boolean>`(channel, event_id) in (select channel, event_id from payment_callbacks
        where received_at < ${value('before')} order by received_at limit ${value('limit')})`,
  ),
)

const oldestCreating = statement<object, { createdAt: number }>((on) =>
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

const attentionSummary = statement<object, { attention: number; oldestAt: number | null }>((on) =>
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

const failedRefundSince = statement<{ paymentId: string; since: number }, { id: string }>((on, value) =>
  on
    .selectFrom('payment_refunds')
    .select('id')
    .where('payment_id', '=', value('paymentId'))
    .where('status', '=', 'failed')
    .where('finished_at', '>=', value('since'))
    .limit(1),
)

const insertRefundRow = statement<NewRowOf<typeof paymentRefunds>>((on, value) =>
  on.insertInto('payment_refunds').values(paymentRefunds.values(value)),
)

const findRefundByNumber = statement<{ number: string }, StoredRefund>((on, value) =>
  on.selectFrom('payment_refunds').select(paymentRefunds.all).where('number', '=', value('number')),
)

const moveRefundRow = statement<RefundRow & { from: RefundStatus }>((on, value) =>
  on
    .updateTable('payment_refunds')
    .set(paymentRefunds.set(value, 'status', 'providerId', 'failedReason', 'finishedAt', 'isSent'))
    .where('id', '=', value('id'))
    .where('status', '=', value('from')),
)

const markSent = statement<{ id: string; providerId: string | null }>((on, value) =>
  on
    .updateTable('payment_refunds')
    .set({ is_sent: 1, provider_id: value('providerId') })
    .where('id', '=', value('id')),
)

const setRefundDue = statement<{ id: string; dueAt: number | null }>((on, value) =>
  on
    .updateTable('payment_refunds')
    .set({ due_at: value('dueAt') })
    .where('id', '=', value('id'))
    .where('lease_holder', 'is', null),
)

type StoredPayment = Omit<PaymentRow, 'isClosing' | 'hasFailedRefund'> & {
  readonly isClosing: number
  readonly hasFailedRefund: number
}
type StoredRefund = Omit<RefundRow, 'isSent'> & { readonly isSent: number }

const toPayment = (row: StoredPayment | undefined): PaymentRow | undefined => row && payments.decode(row)
const toRefund = (row: StoredRefund | undefined): RefundRow | undefined => row && paymentRefunds.decode(row)

/** `false` when an unfinished payment of the order on that channel, or its number, exists already. */
export async function insertPayment(tx: Tx, payment: NewRowOf<typeof payments>): Promise<boolean> {
  return (await tx.change(insert, payment)) === 1
}

export async function findPayment(queries: Reads, id: string): Promise<PaymentRow | undefined> {
  return toPayment(await first(queries, find, { id }))
}

export async function findPaymentByNumber(queries: Reads, number: string): Promise<PaymentRow | undefined> {
  return toPayment(await first(queries, findByNumber, { number }))
}

export async function lockPayment(tx: Tx, id: string): Promise<PaymentRow | undefined> {
  return toPayment(await first(tx, lockById, { id }))
}

/** The payment of an order on a channel that is creating or open. */
export async function findUnfinished(
  queries: Reads,
  orderId: string,
  channel: string,
): Promise<PaymentRow | undefined> {
  return toPayment(await first(queries, unfinishedOf, { orderId, channel }))
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
  return (await first(queries, otherPaid, { orderId, id })) !== undefined
}

/** Compare-and-set: `false`, and nothing changes, when the payment has left the status `from`. */
export async function movePayment(tx: Tx, from: PaymentStatus, payment: PaymentRow): Promise<boolean> {
  return (await tx.change(move, { ...payment, from })) === 1
}

export async function setPaymentDue(tx: Tx, id: string, dueAt: number | null): Promise<void> {
  await tx.change(setDue, { id, dueAt })
}

export async function markClosing(tx: Tx, id: string): Promise<void> {
  await tx.change(requestClose, { id })
}

/** The unfinished payments of an order are to be closed now; returns how many. */
export function markOrderClosing(tx: Tx, orderId: string, now: number): Promise<number> {
  return tx.change(requestCloseOfOrder, { orderId, now })
}

export async function reserveCents(tx: Tx, id: string, cents: number): Promise<void> {
  await tx.change(reserve, { id, cents })
}

export async function updateRefunded(tx: Tx, payment: Pick<PaymentRow, SettledColumn>): Promise<void> {
  await tx.change(settleRefunded, payment)
}

/** Nobody needs to look at the payment any more. */
export async function markResolved(tx: Tx, id: string): Promise<void> {
  await tx.change(resolve, { id })
}

export async function appendChange(tx: Tx, change: NewRowOf<typeof paymentHistory>): Promise<void> {
  await tx.change(insertChange, change)
}

/** Oldest first. */
export function listPaymentChanges(reads: Reads, paymentId: string): Promise<PaymentChange[]> {
  return reads.run(changesOf, { paymentId })
}

/** `false` when the event is recorded already. */
export async function recordCallback(
  tx: Tx,
  channel: string,
  eventId: string,
  receivedAt: number,
): Promise<boolean> {
  return (await tx.change(recordEvent, { channel, eventId, receivedAt })) === 1
}

/** Forgets some of the events that were received before a time; returns how many. */
export function forgetCallbacks(tx: Tx, before: number, limit: number): Promise<number> {
  return tx.change(forgetEvents, { before, limit })
}

/** When the oldest payment whose creation is not clear was requested. */
export async function oldestCreatingAt(reads: Reads): Promise<number | undefined> {
  return (await first(reads, oldestCreating, {}))?.createdAt
}

/** The newest payments of a channel since that time, newest first. */
export async function listLatest(
  reads: Reads,
  given: { readonly channel: string; readonly since: number; readonly limit: number },
): Promise<Pick<PaymentRow, 'status' | 'failedReason' | 'createdAt' | 'actionType'>[]> {
  return reads.run(latestOf, given)
}

/** How many payments need a person, and when the oldest of them was created. */
export async function countAttention(
  reads: Reads,
): Promise<{ readonly attention: number; readonly oldestAt: number | null }> {
  return (await first(reads, attentionSummary, {})) ?? { attention: 0, oldestAt: null }
}

export async function insertRefund(tx: Tx, refund: NewRowOf<typeof paymentRefunds>): Promise<void> {
  await tx.change(insertRefundRow, refund)
}

export async function findRefund(reads: Reads, number: string): Promise<RefundRow | undefined> {
  return toRefund(await first(reads, findRefundByNumber, { number }))
}

/** Whether a refund of the payment has failed at this time or later. */
export async function hasFailedRefundSince(reads: Reads, paymentId: string, since: number): Promise<boolean> {
  return (await first(reads, failedRefundSince, { paymentId, since })) !== undefined
}

/** Compare-and-set, as {@link movePayment}. */
export async function moveRefund(tx: Tx, from: RefundStatus, refund: RefundRow): Promise<boolean> {
  return (await tx.change(moveRefundRow, { ...refund, from })) === 1
}

export async function markRefundSent(tx: Tx, id: string, providerId: string | null): Promise<void> {
  await tx.change(markSent, { id, providerId })
}

export async function setRefundDueAt(tx: Tx, id: string, dueAt: number | null): Promise<void> {
  await tx.change(setRefundDue, { id, dueAt })
}

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
  return mapPage(await readPayments(reads, eachStatus(filter), page), payments.decode)
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
