import type { Migration } from './migration.ts'

const INDEXES = [
  ['audit_entries_by_actor', ['actor_id', 'seq']],
  ['audit_entries_by_name', ['actor_name', 'seq']],
  ['audit_entries_by_operation', ['operation', 'seq']],
  ['audit_entries_by_target', ['target_kind', 'target_id', 'seq']],
] as const

export const addAudit: Migration = {
  name: '0036-audit',
  breaking: false,
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await db.schema
      .createTable('audit_entries')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('actor_id', 'text', (column) => column.notNull())
      .addColumn('actor_name', 'text', (column) => column.notNull())
      .addColumn('actor_kind', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('target_kind', 'text', (column) => column.notNull())
      .addColumn('target_id', 'text')
      .addColumn('request_id', 'text')
      .addColumn('remote_address', 'text')
      .addColumn('changes', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    for (const [name, columns] of INDEXES)
      await db.schema
        .createIndex(name)
        .on('audit_entries')
        .columns([...columns])
        .execute()
    await db.schema
      .createTable('audit_seals')
      .addColumn('page', integer, (column) => column.primaryKey())
      .addColumn('total', integer, (column) => column.notNull())
      .addColumn('newest_at', integer, (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('previous', 'text', (column) => column.notNull())
      .addColumn('codes', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('audit_seals_by_total').on('audit_seals').column('total').execute()
    await db.schema
      .createTable('audit_settings')
      .addColumn('process', 'text', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('hashes', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
  },
}
