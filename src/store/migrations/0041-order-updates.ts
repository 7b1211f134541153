import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Lists of orders by their last change. */
export const orderUpdates: Migration = {
  name: '0041-order-updates',
  async up({ db }) {
    await sql`create index orders_by_update on orders (updated_at, seq)`.execute(db)
  },
}
