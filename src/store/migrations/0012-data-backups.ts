import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addDataBackups: Migration = {
  name: '0012-data-backups',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table data_backups (
        seq ${numbered},
        id text not null unique,
        status text not null check (status in ('running', 'completed', 'failed')),
        size_bytes ${integer},
        sha256 text,
        tables text,
        schema_version text,
        created_at ${integer} not null,
        finished_at ${integer},
        verified_at ${integer},
        error text,
        note text,
        requested_by text not null,
        is_placed ${integer} not null,
        is_alerted ${integer} not null,
        deleted_at ${integer},
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index data_backups_due on data_backups (due_at) where due_at is not null`.execute(db)
    // Over all processes, one backup runs at a time.
    await sql`create unique index data_backups_running on data_backups (status)
      where status = 'running'`.execute(db)
  },
}
