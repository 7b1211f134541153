import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addOverview: Migration = {
  name: '0016-overview',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, concurrentWriters, tableSuffix } = capabilities

    await db.schema
      .createTable('overview_steps')
      .addColumn('at', integer, (column) => column.primaryKey().notNull())
      .addColumn('created', integer, (column) => column.notNull())
      .addColumn('paid', integer, (column) => column.notNull())
      .addColumn('shipped', integer, (column) => column.notNull())
      .addColumn('completed', integer, (column) => column.notNull())
      .addColumn('expired', integer, (column) => column.notNull())
      .addColumn('firing_alerts', integer)
      .addColumn('open_sessions', integer)
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('overview_orders')
      .addColumn('place', integer, (column) => column.notNull())
      .addColumn('pending', integer, (column) => column.notNull())
      .addColumn('paid', integer, (column) => column.notNull())
      .addColumn('shipped', integer, (column) => column.notNull())
      .addColumn('completed', integer, (column) => column.notNull())
      .addColumn('expired', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // An order and its event are one transaction: while nobody writes, the counts belong to the newest event.
    if (concurrentWriters) await sql`lock table orders, messages in share mode`.execute(db)
    const count = (status: string) => sql`(select count(*) from orders where status = ${sql.lit(status)})`
    await sql`
      insert into overview_orders (place, pending, paid, shipped, completed, expired)
      select (select coalesce(max(seq), 0) from messages), ${count('pending')}, ${count('paid')},
        ${count('shipped')}, ${count('completed')}, ${count('expired')}
    `.execute(db)

    // Its first column is constant, as in orders_due.
    await db.schema
      .createIndex('alerts_firing')
      .on('alerts')
      .columns(['status', 'weight'])
      .where(sql.ref('status'), '=', sql.lit('firing'))
      .execute()
  },
}
