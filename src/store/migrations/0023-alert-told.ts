import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** What each receiver was told last of each alert, and the state of the receivers. */
export const alertTold: Migration = {
  name: '0023-alert-told',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('alert_told')
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('receiver', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_told_key', ['alert_id', 'receiver'])
      .modifyEnd(tableSuffix)
      .execute()
    await sql`insert into alert_told (alert_id, receiver, weight, status, at)
      select alert_id, channel, weight,
        case when occasion = 'frozen' then 'frozen' when weight = 0 then 'recovered' else 'firing' end, at
      from alert_notifications
      where seq in (select max(seq) from alert_notifications where outcome in ('sent', 'bundled')
        group by alert_id, channel)`.execute(db)
    await db.schema
      .alterTable('alert_messages')
      .addColumn('refusals', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('is_uncertain', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('alert_channels').addColumn('health', 'text').execute()
    await db.schema
      .createIndex('alert_notifications_by_weight')
      .on('alert_notifications')
      .columns(['weight desc', 'seq'])
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is', null)
      .execute()
    await db.schema
      .createIndex('alert_notifications_waiting')
      .on('alert_notifications')
      .column('alert_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .execute()
    // The one before also finds what this one found.
    await db.schema.dropIndex('alert_notifications_urgent').execute()
  },
}
