import { sql } from 'kysely'
import type { Migration } from './migration.ts'
import { orderColumns, orderHistoryColumns } from './order-tables.ts'

export const foundation: Migration = {
  name: '0001-foundation',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, numberedAbove, tableSuffix } = capabilities

    await db.schema
      .createTable('users')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('name_key', 'text', (column) => column.notNull().unique())
      .addColumn('password_hash', 'text', (column) => column.notNull())
      .addColumn('roles', 'text', (column) => column.notNull())
      .addColumn('enabled', integer, (column) => column.notNull())
      .addColumn('token_generation', integer, (column) => column.notNull())
      .addColumn('tokens_valid_from', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('last_login_at', integer)
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('orders')
      .addColumn('seq', integer, numberedAbove)
      .$call(orderColumns(integer, ['pending', 'paid', 'shipped', 'completed', 'expired']))
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('orders_by_status').on('orders').columns(['status', 'seq']).execute()
    await db.schema.createIndex('orders_by_platform').on('orders').columns(['platform', 'seq']).execute()
    // The index of the timeout scan. It contains only pending orders, so it stays small however many orders there are.
    // Its first column is the status, although that is constant: otherwise SQLite prefers orders_by_status, and reads
    // every pending order.
    await db.schema
      .createIndex('orders_due')
      .on('orders')
      .columns(['status', 'expires_at'])
      .where('status', '=', sql.lit('pending'))
      .execute()

    await db.schema
      .createTable('order_history')
      .$call(orderHistoryColumns(integer, 'orders'))
      .addPrimaryKeyConstraint('order_history_key', ['order_id', 'version'])
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('messages')
      .addColumn('seq', integer, numberedAbove)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('headers', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('pending', 'delivered', 'dead')`),
      )
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('last_error', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('delivered_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('messages_by_subject').on('messages').columns(['subject', 'seq']).execute()
    // Most messages are delivered; the pending and the dead ones, which the queries select, are few. Each has its own
    // index, because SQLite uses a partial index only for a query that repeats its condition.
    await db.schema
      .createIndex('messages_pending')
      .on('messages')
      .columns(['status', 'seq'])
      .where('status', '=', sql.lit('pending'))
      .execute()
    await db.schema
      .createIndex('messages_dead')
      .on('messages')
      .columns(['status', 'seq'])
      .where('status', '=', sql.lit('dead'))
      .execute()
    await db.schema
      .createIndex('messages_delivered')
      .on('messages')
      .column('delivered_at')
      .where('delivered_at', 'is not', null)
      .execute()

    await db.schema
      .createTable('alerts')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('identity', 'text', (column) => column.notNull().unique())
      .addColumn('alarm_id', 'text')
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('level', integer, (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('server_addr', 'text')
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('firing', 'acknowledged', 'recovered', 'frozen')`),
      )
      .addColumn('count', integer, (column) => column.notNull())
      .addColumn('first_at', integer, (column) => column.notNull())
      .addColumn('last_at', integer, (column) => column.notNull())
      .addColumn('recovered_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('alerts_by_status').on('alerts').columns(['status', 'seq']).execute()
    await db.schema.createIndex('alerts_by_source').on('alerts').columns(['source', 'seq']).execute()
    await db.schema.createIndex('alerts_by_level').on('alerts').columns(['level', 'seq']).execute()
    await db.schema.createIndex('alerts_by_weight').on('alerts').columns(['weight', 'seq']).execute()

    await db.schema
      .createTable('idempotency_keys')
      .addColumn('caller', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('request_hash', 'text', (column) => column.notNull())
      .addColumn('status', integer, (column) => column.notNull())
      .addColumn('answer', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('idempotency_keys_key', ['caller', 'key'])
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('idempotency_keys_by_age')
      .on('idempotency_keys')
      .column('created_at')
      .execute()

    await db.schema
      .createTable('leases')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
  },
}
