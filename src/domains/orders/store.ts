import { sql, type AliasableExpression } from 'kysely'
import type { NewRowOf } from '../../store/columns.ts'
import { touchedRow } from '../../store/locking.ts'
import type { Queries, TouchedRow, Tx } from '../../store/store.ts'
import { findArchivedOrder } from './archive.ts'
import type { Order, OrderChange, OrderStatus } from './model.ts'
import { orderHistory, orders, changeRow, changeRows, db, readRow, readRows } from './tables.ts'

/** A query of numbers, which may be of another domain. */
export type NumberQuery = AliasableExpression<{ number: number }>

const findUnarchived = readRow((on, orderId: string) =>
  on.selectFrom('orders').select(orders.except('seq')).where('order_id', '=', orderId),
)

const updateStatus = changeRow((on, order: Order, from: OrderStatus) =>
  on
    .updateTable('orders')
    .set(
      orders.set(order, 'status', 'updatedAt', 'paidAt', 'shippedAt', 'completedAt', 'expiredAt', 'version'),
    )
    .where('order_id', '=', order.orderId)
    .where('status', '=', from),
)

const insertChange = changeRows((on, change: NewRowOf<typeof orderHistory>) =>
  on.insertInto('order_history').values(orderHistory.values(change)),
)

/** The row that a creation or a move touches, so that the events of an order have the order of its changes. */
export function orderRow(orderId: string): TouchedRow {
  return touchedRow('orders', orderId)
}

/** `false` when an order has the id already, also an archived one. */
export const insertOrder = changeRow((on, order: Order) => {
  const columns = Object.entries(orders.values(order))
  const archived = on.selectFrom('archived_orders').select('order_id').where('order_id', '=', order.orderId)
  const row = on
    .selectNoFrom(columns.map(([name, placeholder]) => sql`${placeholder}`.as(name)))
    .where(({ not, exists }) => not(exists(archived)))
  return on
    .insertInto('orders')
    .columns(columns.map(([name]) => name as 'order_id'))
    .expression(row)
    .onConflict((conflict) => conflict.column('order_id').doNothing())
})

/** The order with this id, also if it is archived. */
export async function findOrder(queries: Queries, orderId: string): Promise<Order | undefined> {
  return (await findUnarchived(queries, orderId)) ?? findArchivedOrder(queries, orderId)
}

/** Compare-and-set: `false`, and nothing changes, when the order has left the status `from`. */
export async function moveOrder(tx: Tx, from: OrderStatus, order: Order, actor: string): Promise<boolean> {
  if (!(await updateStatus(tx, order, from))) return false
  const { orderId, version, updatedAt: at, status: toStatus } = order
  await insertChange(tx, { orderId, version, at, fromStatus: from, toStatus, actor })
  return true
}

// The status is a literal: the partial index on due orders covers only queries that repeat its condition.
/** Overdue pending orders, the longest overdue first. */
export const listDue = readRows((on, now: number, limit: number) =>
  on
    .selectFrom('orders')
    .select(orders.except('seq'))
    .where('status', '=', sql.lit('pending'))
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit),
)

/**
 * Locks the candidates that are still pending, and returns them in their order. Orders that another transaction has
 * locked are skipped: the next scan reads them again.
 */
export async function lockDue(tx: Tx, candidates: readonly Order[]): Promise<readonly Order[]> {
  if (!tx.capabilities.concurrentWriters) return candidates
  const rows = await db(tx)
    .selectFrom('orders')
    .select('order_id')
    .where(
      'order_id',
      'in',
      candidates.map(({ orderId }) => orderId),
    )
    .where('status', '=', sql.lit('pending'))
    .orderBy('order_id')
    .forUpdate()
    .skipLocked()
    .execute()
  const locked = new Set(rows.map((row) => row.order_id))
  return candidates.filter(({ orderId }) => locked.has(orderId))
}

/** The changes after the creation, oldest first. */
export const listChanges = readRows(
  (on, orderId: string) => {
    const changesIn = (table: 'order_history' | 'archived_order_history') =>
      on
        .selectFrom(table)
        .select(['version', 'at', 'from_status as from', 'to_status as to', 'actor'])
        .where('order_id', '=', orderId)
    // One query reads both tables: between two queries the order may move to the archive.
    return changesIn('order_history').unionAll(changesIn('archived_order_history')).orderBy('version')
  },
  ({ version: _version, ...change }): OrderChange => change,
)

/**
 * The query that counts the orders of each status that are not archived. It reads a whole index, so it runs with
 * `readAside`.
 */
export function countByStatus(queries: Queries) {
  return countIn(queries, 'orders')
}

/** The query that counts all orders: a status has a row for each of the two tables. It runs with `readAside`, too. */
export function countWithArchive(queries: Queries) {
  // One query counts both tables: between two queries an order may move to the archive.
  return countIn(queries, 'orders').unionAll(countIn(queries, 'archived_orders'))
}

/**
 * Counts as {@link countWithArchive} does. In the same snapshot another query adds a row without a status for each of its
 * numbers.
 */
export function countWithNumbers(queries: Queries, numbers: NumberQuery) {
  const rows = db(queries)
    .selectFrom(numbers.as('others'))
    .select([sql<OrderStatus | null>`null`.as('status'), 'others.number as orders'])
  return countWithArchive(queries).$castTo<{ status: OrderStatus | null; orders: number }>().unionAll(rows)
}

function countIn(queries: Queries, table: 'orders' | 'archived_orders') {
  return db(queries)
    .selectFrom(table)
    .select(['status', (each) => each.fn.countAll<number>().as('orders')])
    .groupBy('status')
}
