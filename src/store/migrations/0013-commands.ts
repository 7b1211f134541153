import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addCommands: Migration = {
  name: '0013-commands',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    // 0025-execution-reasons replaces the quoted names.
    await sql`
      create table "command_executions" (
        seq ${numbered},
        id text not null unique,
        command_id text not null,
        params text not null,
        reason text,
        requested_by text not null,
        status text not null check (status in ('awaiting_approval', 'queued', 'running', 'succeeded', 'failed',
          'timed_out', 'cancelled', 'incomplete', 'rejected', 'expired')),
        approvals text not null,
        exit_code ${integer},
        signal text,
        host text,
        containment text,
        cancelled_by text,
        created_at ${integer} not null,
        started_at ${integer},
        finished_at ${integer},
        expires_at ${integer},
        secrets text,
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index command_executions_by_status on command_executions (status, seq)`.execute(db)
    await sql`create index command_executions_by_command_id on command_executions (command_id, seq)`.execute(
      db,
    )
    await sql`create index command_executions_by_requested_by on command_executions (requested_by, seq)`.execute(
      db,
    )
    await sql`create index command_executions_finished on command_executions (finished_at)
      where finished_at is not null`.execute(db)

    await sql`
      create table "command_outputs" (
        execution_id text not null primary key references "command_executions" (id) on delete cascade,
        text text not null,
        total ${integer} not null
      ) ${tableSuffix}`.execute(db)

    await sql`
      create table command_policies (
        seq ${numbered},
        revision ${integer} not null unique,
        at ${integer} not null,
        actor text not null,
        rules text not null
      ) ${tableSuffix}`.execute(db)

    await sql`create table command_locks (name text not null primary key) ${tableSuffix}`.execute(db)
    await sql`insert into command_locks (name) values ('claim'), ('policy')`.execute(db)
  },
}
