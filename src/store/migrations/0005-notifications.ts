import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const alertNotifications: Migration = {
  name: '0005-notifications',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('alert_notifications')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('occasion', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('content', 'text')
      .addColumn('message_id', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_notifications_of_alert')
      .on('alert_notifications')
      .columns(['alert_id', 'seq'])
      .execute()
    // Only what is not decided yet.
    await db.schema
      .createIndex('alert_notifications_pending')
      .on('alert_notifications')
      .column('seq')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .execute()
    await db.schema
      .createIndex('alert_notifications_urgent')
      .on('alert_notifications')
      .column('alert_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('weight'), '=', sql.lit(6))
      .execute()
    await db.schema
      .createIndex('alert_notifications_in_message')
      .on('alert_notifications')
      .column('message_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('is_refused', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_messages_due')
      .on('alert_messages')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_channels')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('rate', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.insertInto('alert_channels').values({ name: 'robot', rate: null }).execute()
  },
}
