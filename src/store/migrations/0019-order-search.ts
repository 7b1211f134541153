import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const orderSearch: Migration = {
  name: '0019-order-search',
  breaking: false,
  async up({ db, capabilities: { byBytes, hasByteOrder } }) {
    await db.schema
      .createIndex('archived_orders_by_end')
      .on('archived_orders')
      .column('updated_at')
      .where(sql<boolean>`(completed_at is not null or expired_at is not null)`)
      .execute()
    // Elsewhere the unique index of the ids finds those with the same beginning.
    if (hasByteOrder) return
    for (const table of ['orders', 'archived_orders'])
      await db.schema.createIndex(`${table}_by_id`).on(table).expression(byBytes('order_id')).execute()
  },
}
