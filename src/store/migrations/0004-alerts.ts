import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const alertRules: Migration = {
  name: '0004-alerts',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    // What the rules remember of an alert. A program that does not know them inserts the defaults.
    const memory = [
      ['created_by', 'text', 'unknown'],
      ['first_weight', integer, 0],
      ['reports', integer, 0],
      ['was_critical', integer, 0],
      ['was_high', integer, 0],
      ['swings', 'text', '[]'],
    ] as const
    for (const [name, type, initial] of memory)
      await db.schema
        .alterTable('alerts')
        .addColumn(name, type, (column) => column.notNull().defaultTo(initial))
        .execute()
    for (const name of ['acknowledged_weight', 'acknowledged_until', 'expires_at', 'due_at'])
      await db.schema.alterTable('alerts').addColumn(name, integer).execute()
    await db.schema.alterTable('alerts').addColumn('freeze', 'text').execute()
    await sql`
      update alerts set reports = count, first_weight = weight,
        was_critical = case when weight = 6 then 1 else 0 end, was_high = case when weight = 5 then 1 else 0 end
    `.execute(db)
    // Notices of earlier releases recover 24 hours after their last report, like the ones of this release.
    await sql`
      update alerts set expires_at = last_at + 86400000, due_at = last_at + 86400000
      where status = 'firing' and weight in (1, 2)
    `.execute(db)
    // Only what waits for a time is in it.
    await db.schema
      .createIndex('alerts_due')
      .on('alerts')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('alerts_recovered')
      .on('alerts')
      .column('recovered_at')
      .where(sql.ref('recovered_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_history')
      .addColumn('seq', integer, numbered)
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('from_status', 'text', (column) => column.notNull())
      .addColumn('to_status', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('note', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_history_of_alert')
      .on('alert_history')
      .columns(['alert_id', 'seq'])
      .execute()

    await db.schema
      .createTable('alert_silences')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('matchers', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('starts_at', integer, (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('ended_by', 'text')
      .addColumn('due_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_silences_due')
      .on('alert_silences')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await db.schema.createIndex('alert_silences_by_end').on('alert_silences').column('ends_at').execute()
  },
}
