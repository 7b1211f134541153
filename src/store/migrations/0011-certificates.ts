import { sql } from 'kysely'
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

export const addCommands: Migration = {
  name: '0013-commands',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('command_executions')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('command_id', 'text', (column) => column.notNull())
      .addColumn('params', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('requested_by', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(
          sql`status in ('awaiting_approval', 'queued', 'running', 'succeeded', 'failed', 'timed_out',
            'cancelled', 'incomplete', 'rejected', 'expired')`,
        ),
      )
      .addColumn('approvals', 'text', (column) => column.notNull())
      .addColumn('exit_code', integer)
      .addColumn('signal', 'text')
      .addColumn('host', 'text')
      .addColumn('containment', 'text')
      .addColumn('cancelled_by', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('started_at', integer)
      .addColumn('finished_at', integer)
      .addColumn('expires_at', integer)
      .addColumn('secrets', 'text')
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    for (const column of ['status', 'command_id', 'requested_by'])
      await db.schema
        .createIndex(`command_executions_by_${column}`)
        .on('command_executions')
        .columns([column, 'seq'])
        .execute()
    await db.schema
      .createIndex('command_executions_finished')
      .on('command_executions')
      .column('finished_at')
      .where(sql.ref('finished_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('command_outputs')
      .addColumn('execution_id', 'text', (column) =>
        column.primaryKey().notNull().references('command_executions.id').onDelete('cascade'),
      )
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('total', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('command_policies')
      .addColumn('seq', integer, numbered)
      .addColumn('revision', integer, (column) => column.notNull().unique())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('rules', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('command_locks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await sql`insert into command_locks (name) values ('claim'), ('policy')`.execute(db)
  },
}
