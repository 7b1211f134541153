import { sql } from 'kysely'
import type { Tx } from '../../store/store.ts'
import { archivedOrders, db, HAS_ENDED, orderHistory, orders, readRow, readRows } from './tables.ts'

/** Orders that ended at `until` or earlier, the oldest first. */
export const listArchivable = readRows(
  (on, until: number, limit: number) =>
    on
      .selectFrom('orders')
      .select('order_id as orderId')
      // A condition on the status would make SQLite use the index of the status.
      .where(HAS_ENDED)
      .where('updated_at', '<=', until)
      // The newest order stays, because SQLite would give its number to the next order. The plus sign keeps SQLite from a search
      // by the number, which would read every order.
      .where(sql<boolean>`+seq < (select max(seq) from orders)`)
      // An order whose id is in the archive already would make every batch fail (docs/decisions/0041-order-archive.md).
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('archived_orders')
              .select('archived_orders.seq')
              .whereRef('archived_orders.order_id', '=', 'orders.order_id'),
          ),
        ),
      )
      .orderBy('updated_at')
      .limit(limit),
  ({ orderId }) => orderId,
)

export const findArchivedOrder = readRow((on, orderId: string) =>
  on.selectFrom('archived_orders').select(archivedOrders.except('seq')).where('order_id', '=', orderId),
)

/**
 * Moves orders and their history to the archive, and returns how many. Orders that another worker moves at the same time
 * are left out.
 */
export async function archiveOrders(tx: Tx, candidates: readonly string[]): Promise<number> {
  const on = db(tx)
  const rows = await on
    .selectFrom('orders')
    .select('order_id')
    .where('order_id', 'in', candidates)
    .where(HAS_ENDED)
    .orderBy('order_id')
    .forUpdate()
    .skipLocked()
    .execute()
  const ids = rows.map((row) => row.order_id)
  if (ids.length === 0) return 0
  await copyToArchive(tx, ids)
  await on.deleteFrom('order_history').where('order_id', 'in', ids).execute()
  await on.deleteFrom('orders').where('order_id', 'in', ids).execute()
  return ids.length
}

async function copyToArchive(tx: Tx, ids: readonly string[]): Promise<void> {
  const on = db(tx)
  await on
    .insertInto('archived_orders')
    .columns(orders.names)
    .expression((query) => query.selectFrom('orders').select(orders.names).where('order_id', 'in', ids))
    .execute()
  await on
    .insertInto('archived_order_history')
    .columns(orderHistory.names)
    .expression((query) =>
      query.selectFrom('order_history').select(orderHistory.names).where('order_id', 'in', ids),
    )
    .execute()
}
