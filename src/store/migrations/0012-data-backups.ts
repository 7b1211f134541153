import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addDataBackups: Migration = {
  name: '0012-data-backups',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('data_backups')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('running', 'completed', 'failed')`),
      )
      .addColumn('size_bytes', integer)
      .addColumn('sha256', 'text')
      .addColumn('tables', 'text')
      .addColumn('schema_version', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('finished_at', integer)
      .addColumn('verified_at', integer)
      .addColumn('error', 'text')
      .addColumn('note', 'text')
      .addColumn('requested_by', 'text', (column) => column.notNull())
      .addColumn('is_placed', integer, (column) => column.notNull())
      .addColumn('is_alerted', integer, (column) => column.notNull())
      .addColumn('deleted_at', integer)
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('data_backups_due')
      .on('data_backups')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    // Over all processes, one backup runs at a time.
    await db.schema
      .createIndex('data_backups_running')
      .unique()
      .on('data_backups')
      .column('status')
      .where(sql.ref('status'), '=', sql.lit('running'))
      .execute()
  },
}
