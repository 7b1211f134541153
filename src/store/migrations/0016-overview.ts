import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addOverview: Migration = {
  name: '0016-overview',
  async up({ db, capabilities }) {
    const { integer, concurrentWriters, tableSuffix } = capabilities

    await sql`
      create table overview_steps (
        at ${integer} not null primary key,
        created ${integer} not null,
        paid ${integer} not null,
        shipped ${integer} not null,
        completed ${integer} not null,
        expired ${integer} not null,
        firing_alerts ${integer},
        open_sessions ${integer}
      ) ${tableSuffix}`.execute(db)

    await sql`
      create table overview_orders (
        place ${integer} not null,
        pending ${integer} not null,
        paid ${integer} not null,
        shipped ${integer} not null,
        completed ${integer} not null,
        expired ${integer} not null
      ) ${tableSuffix}`.execute(db)
    // An order and its event are one transaction: while nobody writes, the counts belong to the newest event.
    if (concurrentWriters) await sql`lock table orders, messages in share mode`.execute(db)
    const count = (status: string) => sql`(select count(*) from orders where status = ${sql.lit(status)})`
    await sql`
      insert into overview_orders (place, pending, paid, shipped, completed, expired)
      select (select coalesce(max(seq), 0) from messages), ${count('pending')}, ${count('paid')},
        ${count('shipped')}, ${count('completed')}, ${count('expired')}
    `.execute(db)

    // Its first column is constant, as in orders_due.
    await sql`create index alerts_firing on alerts (status, weight) where status = 'firing'`.execute(db)
  },
}
