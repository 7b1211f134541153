import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeats: Migration = {
  name: '0007-heartbeats',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table heartbeats (
        seq ${numbered},
        name text not null unique,
        every_seconds ${integer} not null,
        grace_seconds ${integer} not null,
        severity text not null,
        source text not null,
        created_by text not null,
        created_at ${integer} not null,
        updated_by text not null,
        updated_at ${integer} not null,
        last_beat_at ${integer},
        counted_from ${integer} not null,
        due_at ${integer} not null,
        missed_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index heartbeats_due on heartbeats (due_at) where missed_at is null`.execute(db)

    await sql`
      create table heartbeat_checks (
        name text not null primary key,
        checked_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
  },
}
