import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const orderArchive: Migration = {
  name: '0018-order-archive',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('archived_orders')
      // Of the order while it was in `orders`, so that lists keep their order.
      .addColumn('seq', integer, (column) => column.primaryKey())
      .addColumn('order_id', 'text', (column) => column.notNull().unique())
      .addColumn('platform', 'text', (column) => column.notNull())
      .addColumn('amount_cents', integer, (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('completed', 'expired')`),
      )
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('paid_at', integer)
      .addColumn('shipped_at', integer)
      .addColumn('completed_at', integer)
      .addColumn('expired_at', integer)
      .addColumn('version', integer, (column) => column.notNull())
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
      .addColumn('order_id', 'text', (column) => column.notNull().references('archived_orders.order_id'))
      .addColumn('version', integer, (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('from_status', 'text', (column) => column.notNull())
      .addColumn('to_status', 'text', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
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
