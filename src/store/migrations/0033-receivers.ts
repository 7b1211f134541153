import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Several receivers: each has its own messages and health; what is due later for an alert; runbooks. */
export const receivers: Migration = {
  name: '0033-receivers',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema.alterTable('alerts').addColumn('runbook_url', 'text').execute()
    await db.schema.alterTable('alert_notifications').addColumn('due_at', integer).execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('channel', 'text', (column) => column.notNull().defaultTo('robot'))
      .execute()
    await db.schema.alterTable('alert_messages').addColumn('details', 'text').execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('is_notice', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    for (const [name, type] of [
      ['last_success_at', integer],
      ['last_error', 'text'],
      ['failing_since', integer],
    ] as const)
      await db.schema.alterTable('alert_channels').addColumn(name, type).execute()
    await db.schema
      .alterTable('alert_channels')
      .addColumn('is_reported', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createIndex('alert_notifications_by_channel')
      .on('alert_notifications')
      .columns(['channel', 'weight desc', 'seq'])
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is', null)
      .execute()
    await db.schema.dropIndex('alert_notifications_by_weight').execute()

    await db.schema
      .createTable('alert_episodes')
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('route', 'text', (column) => column.notNull())
      .addColumn('started_at', integer, (column) => column.notNull())
      .addColumn('step', integer, (column) => column.notNull())
      .addColumn('escalate_at', integer)
      .addColumn('repeat_at', integer)
      .addColumn('due_at', integer)
      .addPrimaryKeyConstraint('alert_episodes_key', ['alert_id', 'route'])
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('alert_dampings')
      .addColumn('alert_id', 'text', (column) =>
        column.primaryKey().references('alerts.id').onDelete('cascade'),
      )
      .addColumn('tellings', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('quiet_since', integer)
      .addColumn('changes', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    for (const table of ['alert_episodes', 'alert_dampings'])
      await db.schema
        .createIndex(`${table}_due`)
        .on(table)
        .column('due_at')
        .where(sql.ref('due_at'), 'is not', null)
        .execute()
  },
}
