import { sql } from 'kysely'
import type { Queries } from '../store.ts'
import type { Migration } from './migration.ts'

const CHECKED = `'rejected', 'expired')`
const CHECKED_NOW = `'rejected', 'expired', 'interrupted')`

export const executionReasons: Migration = {
  name: '0025-execution-reasons',
  async up(tx) {
    await (tx.capabilities.replacesConstraints ? replaceCheck(tx) : makeTablesAnew(tx))
    await sql`alter table command_executions add column status_reason text`.execute(tx.db)
    await sql`alter table command_executions add column requester_roles text`.execute(tx.db)
  },
}

async function replaceCheck({ db }: Queries): Promise<void> {
  await sql`alter table command_executions drop constraint command_executions_status_check`.execute(db)
  await sql`alter table command_executions add constraint command_executions_status_check check (status in
    ('awaiting_approval', 'queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'incomplete',
      'rejected', 'expired', 'interrupted'))`.execute(db)
}

/** Copies both tables, because their deletion must not delete the outputs, which refer to the executions. */
async function makeTablesAnew(tx: Queries): Promise<void> {
  const { db } = tx
  const indexes = await definitionsOf(tx, 'index')
  await copyTable(tx, 'command_executions', (definition) => definition.replace(CHECKED, CHECKED_NOW))
  await copyTable(tx, 'command_outputs', (definition) =>
    definition.replace('"command_executions"', '"command_executions_next"'),
  )
  // The numbers go on where they were, also if the newest rows are gone.
  await sql`delete from sqlite_sequence where name = 'command_executions_next'`.execute(db)
  await sql`insert into sqlite_sequence (name, seq)
    select 'command_executions_next', seq from sqlite_sequence where name = 'command_executions'`.execute(db)
  for (const table of ['command_outputs', 'command_executions']) await db.schema.dropTable(table).execute()
  // A rename is followed by the references to the table.
  for (const table of ['command_executions', 'command_outputs'])
    await db.schema.alterTable(`${table}_next`).renameTo(table).execute()
  for (const definition of indexes) await sql.raw(definition).execute(db)
}

async function copyTable(tx: Queries, table: string, change: (definition: string) => string): Promise<void> {
  const [definition = ''] = await definitionsOf(tx, 'table', table)
  const next = change(definition.replace(`"${table}"`, `"${table}_next"`))
  await sql.raw(next).execute(tx.db)
  await sql`insert into ${sql.table(`${table}_next`)} select * from ${sql.table(table)}`.execute(tx.db)
}

async function definitionsOf(
  { db }: Queries,
  type: 'table' | 'index',
  table = 'command_executions',
): Promise<string[]> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema
    where type = ${type} and tbl_name = ${table} and sql is not null`.execute(db)
  return rows.map((row) => row.sql)
}
