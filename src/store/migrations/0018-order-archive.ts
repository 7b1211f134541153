import { sql } from 'kysely'
import type { Migration } from './migration.ts'
import { orderColumns, orderHistoryColumns } from './order-tables.ts'

export const orderArchive: Migration = {
  name: '0018-order-archive',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('archived_orders')
      // The `seq` that the order had in `orders`, so that lists keep their order.
      .addColumn('seq', integer, (column) => column.primaryKey())
      .$call(orderColumns(integer, ['completed', 'expired']))
      .modifyEnd(tableSuffix)
      .execute()
    for (const column of ['status', 'platform'])
      await db.schema
        .createIndex(`archived_orders_by_${column}`)
        .on('archived_orders')
        .columns([column, 'seq'])
        .execute()

    await db.schema
      .createTable('archived_order_history')
      .$call(orderHistoryColumns(integer, 'archived_orders'))
      .addPrimaryKeyConstraint('archived_order_history_key', ['order_id', 'version'])
      .modifyEnd(tableSuffix)
      .execute()

    // For the scan of the archive job. The condition has the same form in its query, as SQLite requires.
    await db.schema
      .createIndex('orders_ended')
      .on('orders')
      .column('updated_at')
      .where(sql<boolean>`(completed_at is not null or expired_at is not null)`)
      .execute()
  },
}
