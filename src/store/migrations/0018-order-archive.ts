import { sql } from 'kysely'
import type { Migration } from './migration.ts'
import { orderColumns, orderHistoryColumns } from './order-tables.ts'

export const orderArchive: Migration = {
  name: '0018-order-archive',
  async up({ db, capabilities: { integer, tableSuffix } }) {
    // The `seq` that the order had in `orders`, so that lists keep their order.
    await sql`
      create table archived_orders (
        seq ${integer} primary key,
        ${orderColumns(integer, ['completed', 'expired'])}
      ) ${tableSuffix}`.execute(db)
    await sql`create index archived_orders_by_status on archived_orders (status, seq)`.execute(db)
    await sql`create index archived_orders_by_platform on archived_orders (platform, seq)`.execute(db)

    await sql`
      create table archived_order_history (
        ${orderHistoryColumns(integer, 'archived_orders')},
        constraint archived_order_history_key primary key (order_id, version)
      ) ${tableSuffix}`.execute(db)

    // For the scan of the archive job. The condition has the same form in its query, as SQLite requires.
    await sql`create index orders_ended on orders (updated_at)
      where (completed_at is not null or expired_at is not null)`.execute(db)
  },
}
