import { sql } from 'kysely'
import { randomInt } from 'node:crypto'
import type { Migration } from './migration.ts'
import { orderColumns, orderHistoryColumns } from './order-tables.ts'

export const addSignIn: Migration = {
  name: '0014-sign-in',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities

    await db.schema
      .createTable('sign_in_tickets')
      .addColumn('ticket_hash', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('token_generation', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('sign_in_answers')
      .addColumn('state_hash', 'text', (column) => column.primaryKey())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // What has expired is removed in this order.
    await db.schema
      .createIndex('sign_in_tickets_by_expiry')
      .on('sign_in_tickets')
      .column('expires_at')
      .execute()
    await db.schema
      .createIndex('sign_in_answers_by_expiry')
      .on('sign_in_answers')
      .column('expires_at')
      .execute()
  },
}

export const eventOrder: Migration = {
  name: '0015-event-order',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    // Earlier uploads come before all messages in the live stream.
    await db.schema
      .alterTable('telemetry_uploads')
      .addColumn('after_message', integer, (column) => column.notNull().defaultTo(0))
      .execute()
  },
}

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

// Below it lies room for every later revision: numbers up to 2^53 are exact.
const HIGHEST_START = 2 ** 40

export const addUserChanges: Migration = {
  name: '0017-user-changes',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities
    await db.schema
      .createTable('user_changes')
      .addColumn('revision', integer, (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('user_changes_by_user')
      .on('user_changes')
      .columns(['user_id', 'revision'])
      .execute()
    await db.schema
      .createTable('user_revisions')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('revision', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('user_mirrors')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('source', 'text')
      .addColumn('revision', integer)
      .addColumn('confirmed_at', integer)
      .addColumn('pool', 'text')
      .modifyEnd(tableSuffix)
      .execute()

    // Random, so that the revisions of two databases differ.
    const start = randomInt(1, HIGHEST_START)
    await sql`insert into user_changes (revision, user_id, name)
      select cast(${start} as bigint) + seq, id, name from users`.execute(db)
    await sql`insert into user_revisions (name, revision)
      select 'users', cast(${start} as bigint) + coalesce(max(seq), 0) from users`.execute(db)
    await sql`insert into user_mirrors (name) values ('primary')`.execute(db)
  },
}

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

export const unclosedTickets: Migration = {
  name: '0020-unclosed-tickets',
  breaking: false,
  async up({ db }) {
    await db.schema
      .createIndex('tickets_unclosed_by_seq')
      .on('tickets')
      .column('seq')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
  },
}

export const ticketComments: Migration = {
  name: '0021-ticket-comments',
  breaking: false,
  async up({ db }) {
    await db.schema
      .createIndex('ticket_changes_with_comment')
      .on('ticket_changes')
      .columns(['ticket_id', 'seq'])
      .where(sql.ref('comment'), 'is not', null)
      .execute()
  },
}

/** Until when the alerts of each group of an Alertmanager fire, unless the group is heard of again. */
export const addAlertGroups: Migration = {
  name: '0022-alert-groups',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('alert_groups')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('fires_until', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.alterTable('alerts').addColumn('group_id', 'text').execute()
  },
}
