import type { Migration } from './migration.ts'

export const telemetry: Migration = {
  name: '0008-telemetry',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, numberedAbove, tableSuffix } = capabilities

    await db.schema
      .createTable('telemetry_agents')
      .addColumn('seq', integer, numbered)
      .addColumn('agent_id', 'text', (column) => column.notNull().unique())
      .addColumn('first_at', integer, (column) => column.notNull())
      .addColumn('last_at', integer, (column) => column.notNull())
      .addColumn('items', integer, (column) => column.notNull())
      .addColumn('bucket_full_at', integer, (column) => column.notNull())
      .addColumn('last_item', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // The longest silent one first.
    await db.schema
      .createIndex('telemetry_agents_by_silence')
      .on('telemetry_agents')
      .column('last_at')
      .execute()

    // The content is the last column: the others are read without it.
    await db.schema
      .createTable('telemetry_uploads')
      .addColumn('seq', integer, numberedAbove)
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('items', integer, (column) => column.notNull())
      .addColumn('bytes', integer, (column) => column.notNull())
      .addColumn('sent', integer, (column) => column.notNull())
      .addColumn('accepted_at', integer, (column) => column.notNull())
      .addColumn('accepted_by', 'text', (column) => column.notNull())
      .addColumn('delivered_at', integer)
      .addColumn('content', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // Its first column is always null: otherwise SQLite reads the table in the order of seq, with all that is delivered.
    await db.schema
      .createIndex('telemetry_uploads_pending')
      .on('telemetry_uploads')
      .columns(['delivered_at', 'seq', 'agent_id'])
      .where('delivered_at', 'is', null)
      .execute()
    await db.schema
      .createIndex('telemetry_uploads_delivered')
      .on('telemetry_uploads')
      .column('delivered_at')
      .where('delivered_at', 'is not', null)
      .execute()

    await db.schema
      .createTable('telemetry_totals')
      .addColumn('pending_items', integer, (column) => column.notNull())
      .addColumn('pending_bytes', integer, (column) => column.notNull())
      .addColumn('agents', integer, (column) => column.notNull())
      .addColumn('removed_up_to', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db
      .insertInto('telemetry_totals')
      .values({ pending_items: 0, pending_bytes: 0, agents: 0, removed_up_to: 0 })
      .execute()
  },
}
