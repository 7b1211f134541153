import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const orderSearch: Migration = {
  name: '0019-order-search',
  async up({ db, capabilities: { byBytes, hasByteOrder } }) {
    await sql`create index archived_orders_by_end on archived_orders (updated_at)
      where (completed_at is not null or expired_at is not null)`.execute(db)
    // Elsewhere the unique index of the ids finds those with the same beginning.
    if (hasByteOrder) return
    await sql`create index orders_by_id on orders (${byBytes('order_id')})`.execute(db)
    await sql`create index archived_orders_by_id on archived_orders (${byBytes('order_id')})`.execute(db)
  },
}
