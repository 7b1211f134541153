import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeats: Migration = {
  name: '0007-heartbeats',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('heartbeats')
      .addColumn('seq', integer, numbered)
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('every_seconds', integer, (column) => column.notNull())
      .addColumn('grace_seconds', integer, (column) => column.notNull())
      .addColumn('severity', 'text', (column) => column.notNull())
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('last_beat_at', integer)
      .addColumn('counted_from', integer, (column) => column.notNull())
      .addColumn('due_at', integer, (column) => column.notNull())
      .addColumn('missed_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('heartbeats_due')
      .on('heartbeats')
      .column('due_at')
      .where(sql.ref('missed_at'), 'is', null)
      .execute()

    await db.schema
      .createTable('heartbeat_checks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('checked_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
  },
}
