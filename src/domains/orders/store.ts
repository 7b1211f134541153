import { sql } from 'kysely'
import type { NewRowOf } from '../../store/columns.ts'
import { lockRows } from '../../store/locking.ts'
import { first, type Queries, type Tx } from '../../store/store.ts'
import type { Order, OrderChange, OrderStatus } from './model.ts'
import { db, orderHistory, orders, pages, statement } from './tables.ts'

const insert = statement<Order>((on, value) =>
  on
    .insertInto('orders')
    .values(orders.values(value))
    .onConflict((conflict) => conflict.column('order_id').doNothing()),
)

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

/** `false` when the id is taken. */
export async function insertOrder(tx: Tx, order: Order): Promise<boolean> {
  return (await tx.change(insert, order)) === 1
}

export function findOrder(queries: Queries, orderId: string): Promise<Order | undefined> {
  return first(queries, find, { orderId })
}

/** Compare-and-set: `false`, and nothing changes, when the order has left the status `from`. */
export async function moveOrder(tx: Tx, from: OrderStatus, order: Order, actor: string): Promise<boolean> {
  if ((await tx.change(move, { ...order, from })) === 0) return false
  const { orderId, version, updatedAt: at, status: toStatus } = order
  await tx.change(insertChange, { orderId, version, at, fromStatus: from, toStatus, actor })
  return true
}

export interface OrderFilter {
  readonly status?: OrderStatus
  readonly platform?: string
}

/** Newest first. */
export const listOrders = pages(
  { table: 'orders', createdAt: 'created_at', literals: ['status'] },
  (on) => on.selectFrom('orders').select(orders.except('createdBy', 'version')),
  {
    status: (query, status: OrderStatus) => query.where('status', '=', sql.lit(status)),
    platform: (query, platform: string) => query.where('platform', '=', platform),
  },
)

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
export function listChanges(queries: Queries, orderId: string): Promise<OrderChange[]> {
  return db(queries)
    .selectFrom('order_history')
    .select(['at', 'from_status as from', 'to_status as to', 'actor'])
    .where('order_id', '=', orderId)
    .orderBy('version')
    .execute()
}

/** The query that counts the orders of each status. It reads a whole index, so it runs with `readAside`. */
export function countByStatus(queries: Queries) {
  return db(queries)
    .selectFrom('orders')
    .select(['status', (each) => each.fn.countAll<number>().as('orders')])
    .groupBy('status')
}
