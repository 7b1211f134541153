import type { Migration } from './migration.ts'

/** Lists of orders by their last change. */
export const orderUpdates: Migration = {
  name: '0041-order-updates',
  breaking: false,
  async up({ db }) {
    await db.schema.createIndex('orders_by_update').on('orders').columns(['updated_at', 'seq']).execute()
  },
}
