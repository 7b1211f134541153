import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addAudit: Migration = {
  name: '0036-audit',
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await sql`
      create table audit_entries (
        seq ${numbered},
        id text not null unique,
        at ${integer} not null,
        actor_id text not null,
        actor_name text not null,
        actor_kind text not null,
        operation text not null,
        target_kind text not null,
        target_id text,
        request_id text,
        remote_address text,
        changes text not null,
        outcome text not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index audit_entries_by_actor on audit_entries (actor_id, seq)`.execute(db)
    await sql`create index audit_entries_by_name on audit_entries (actor_name, seq)`.execute(db)
    await sql`create index audit_entries_by_operation on audit_entries (operation, seq)`.execute(db)
    await sql`create index audit_entries_by_target on audit_entries (target_kind, target_id, seq)`.execute(db)
    await sql`
      create table audit_seals (
        page ${integer} primary key,
        total ${integer} not null,
        newest_at ${integer} not null,
        key_id text not null,
        previous text not null,
        codes text not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index audit_seals_by_total on audit_seals (total)`.execute(db)
    await sql`
      create table audit_settings (
        process text primary key,
        key_id text not null,
        hashes text not null
      ) ${tableSuffix}`.execute(db)
  },
}
