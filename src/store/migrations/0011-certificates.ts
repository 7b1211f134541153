import type { Migration } from './migration.ts'

export const addCertificates: Migration = {
  name: '0011-certificates',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('certificates')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('fingerprint_sha256', 'text', (column) => column.notNull().unique())
      .addColumn('serial', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('names', 'text', (column) => column.notNull())
      .addColumn('not_before', integer, (column) => column.notNull())
      .addColumn('not_after', integer, (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('signature', 'text', (column) => column.notNull())
      .addColumn('is_ca', integer, (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('warnings', 'text', (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .addColumn('expires_first', 'text', (column) => column.notNull())
      .addColumn('replaced_by', 'text')
      .addColumn('revoked_at', integer)
      .addColumn('revoked_by', 'text')
      .addColumn('revoke_reason', 'text')
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('file_sha256', 'text', (column) => column.notNull())
      .addColumn('reported_step', integer)
      .addColumn('alert_step', integer)
      .addColumn('has_file_alert', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('certificates_by_end')
      .on('certificates')
      .columns(['not_after', 'seq'])
      .execute()

    await db.schema
      .createTable('certificate_names')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('certificate_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('certificate_names_key', ['name', 'certificate_id'])
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('certificate_names_of_certificate')
      .on('certificate_names')
      .column('certificate_id')
      .execute()

    await db.schema
      .createTable('certificate_file_claims')
      .addColumn('fingerprint_sha256', 'text', (column) => column.primaryKey().notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('claimed_until', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('certificate_locks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.insertInto('certificate_locks').values({ name: 'replacements' }).execute()
  },
}
