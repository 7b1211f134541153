import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const eventOrder: Migration = {
  name: '0015-event-order',
  async up({ db, capabilities: { integer } }) {
    // Earlier uploads come before all messages in the live stream.
    await sql`alter table telemetry_uploads add column after_message ${integer} not null default 0`.execute(
      db,
    )
  },
}
