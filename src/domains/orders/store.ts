import { sql, type AliasableExpression } from 'kysely'
import type { NewRowOf } from '../../store/columns.ts'
import { lockRows, touchedRow } from '../../store/locking.ts'
import { first, type Queries, type TouchedRow, type Tx } from '../../store/store.ts'
import type { Order, OrderChange, OrderStatus } from './model.ts'
import { findArchivedOrder } from './archive.ts'
import { db, orderHistory, orders, statement } from './tables.ts'

/** A query of numbers, which may be of another domain. */
export type NumberQuery = AliasableExpression<{ number: number }>

// An archived order keeps its id from a new one.
const insert = statement<Order>((on, value) => {
  const columns = Object.entries(orders.values(value))
  const archived = on
    .selectFrom('archived_orders')
    .select('order_id')
    .where('order_id', '=', value('orderId'))
  const row = on
    .selectNoFrom(columns.map(([name, placeholder]) => sql`${placeholder}`.as(name)))
    .where(({ not, exists }) => not(exists(archived)))
  return on
    .insertInto('orders')
    .columns(columns.map(([name]) => name as 'order_id'))
    .expression(row)
    .onConflict((conflict) => conflict.column('order_id').doNothing())
})

const find = statement<{ orderId: string }, Order>((on, value) =>
  on.selectFrom('orders').select(orders.except('seq')).where('order_id', '=', value('orderId')),
)

const move = statement<Order & { from: OrderStatus }>((on, value) =>
  on
    .updateTable('orders')
    .set(
      orders.set(value, 'status', 'updatedAt', 'paidAt', 'shippedAt', 'completedAt', 'expiredAt', 'version'),
    )
    .where('order_id', '=', value('orderId'))
    .where('status', '=', value('from')),
)

const insertChange = statement<NewRowOf<typeof orderHistory>>((on, value) =>
  on.insertInto('order_history').values(orderHistory.values(value)),
)

// The status is a literal: the partial index on due orders covers only queries that repeat its condition.
const due = statement<{ now: number; limit: number }, Order>((on, value) =>
  on
    .selectFrom('orders')
    .select(orders.except('seq'))
    .where('status', '=', sql.lit('pending'))
    .where('expires_at', '<=', value('now'))
    .orderBy('expires_at')
    .limit(value('limit')),
)

/** The row that a creation or a move touches, so that the events of an order have the order of its changes. */
export function orderRow(orderId: string): TouchedRow {
  return touchedRow('orders', orderId)
}

/** `false` when the id is taken. */
export async function insertOrder(tx: Tx, order: Order): Promise<boolean> {
  return (await tx.change(insert, order)) === 1
}

/** The order with this id, also if it is archived. */
export async function findOrder(queries: Queries, orderId: string): Promise<Order | undefined> {
  return (await first(queries, find, { orderId })) ?? findArchivedOrder(queries, orderId)
}

/** Compare-and-set: `false`, and nothing changes, when the order has left the status `from`. */
export async function moveOrder(tx: Tx, from: OrderStatus, order: Order, actor: string): Promise<boolean> {
  if ((await tx.change(move, { ...order, from })) === 0) return false
  const { orderId, version, updatedAt: at, status: toStatus } = order
  await tx.change(insertChange, { orderId, version, at, fromStatus: from, toStatus, actor })
  return true
}

/** Overdue pending orders, the longest overdue first. */
export function listDue(queries: Queries, now: number, limit: number): Promise<Order[]> {
  return queries.run(due, { now, limit })
}

/**
 * Locks the candidates that are still pending, and returns them in the given order. Orders that another transaction has
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
    .$call(lockRows(tx.capabilities, { skipLocked: true }))
    .execute()
  const locked = new Set(rows.map((row) => row.order_id))
  return candidates.filter(({ orderId }) => locked.has(orderId))
}

/** The changes after the creation, oldest first. */
export async function listChanges(queries: Queries, orderId: string): Promise<OrderChange[]> {
  const changesIn = (table: 'order_history' | 'archived_order_history') =>
    db(queries)
      .selectFrom(table)
      .select(['version', 'at', 'from_status as from', 'to_status as to', 'actor'])
      .where('order_id', '=', orderId)
  // One query reads both tables: between two queries the order may move to the archive.
  const rows = await changesIn('order_history')
    .unionAll(changesIn('archived_order_history'))
    .orderBy('version')
    .execute()
  return rows.map(({ version: _version, ...change }) => change)
}

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
