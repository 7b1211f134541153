import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const telemetry: Migration = {
  name: '0008-telemetry',
  async up({ db, capabilities }) {
    const { integer, numbered, numberedAbove, tableSuffix } = capabilities

    await sql`
      create table telemetry_agents (
        seq ${numbered},
        agent_id text not null unique,
        first_at ${integer} not null,
        last_at ${integer} not null,
        items ${integer} not null,
        bucket_full_at ${integer} not null,
        last_item text not null
      ) ${tableSuffix}`.execute(db)
    // The longest silent one first.
    await sql`create index telemetry_agents_by_silence on telemetry_agents (last_at)`.execute(db)

    // The content is the last column: the others are read without it.
    await sql`
      create table telemetry_uploads (
        seq ${numberedAbove},
        id text not null,
        agent_id text not null,
        items ${integer} not null,
        bytes ${integer} not null,
        sent ${integer} not null,
        accepted_at ${integer} not null,
        accepted_by text not null,
        delivered_at ${integer},
        content text not null
      ) ${tableSuffix}`.execute(db)
    // Its first column is always null: otherwise SQLite reads the table in the order of seq, with all that is delivered.
    await sql`create index telemetry_uploads_pending on telemetry_uploads (delivered_at, seq, agent_id)
      where delivered_at is null`.execute(db)
    await sql`create index telemetry_uploads_delivered on telemetry_uploads (delivered_at)
      where delivered_at is not null`.execute(db)

    await sql`
      create table telemetry_totals (
        pending_items ${integer} not null,
        pending_bytes ${integer} not null,
        agents ${integer} not null,
        removed_up_to ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await db
      .insertInto('telemetry_totals')
      .values({ pending_items: 0, pending_bytes: 0, agents: 0, removed_up_to: 0 })
      .execute()
  },
}
