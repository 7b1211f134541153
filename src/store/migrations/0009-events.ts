import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const events: Migration = {
  name: '0009-events',
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities

    await sql`
      create table event_logs (
        name text primary key,
        removed_up_to ${integer} not null
      ) ${tableSuffix}`.execute(db)
    // Earlier releases did not record which messages they removed, so any of these may have been followed by one.
    await sql`
      insert into event_logs (name, removed_up_to)
      select 'messages', coalesce(max(seq), 0) from messages`.execute(db)
  },
}
