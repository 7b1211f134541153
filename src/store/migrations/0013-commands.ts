import { sql } from 'kysely'
import type { Migration } from './migration.ts'

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
