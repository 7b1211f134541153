import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Since when an alert fires, and where it comes from, as its sender says. */
export const alertOrigins: Migration = {
  name: '0040-alert-origins',
  async up({ db, capabilities: { integer } }) {
    await sql`alter table alerts add column starts_at ${integer}`.execute(db)
    await sql`alter table alerts add column generator_url text`.execute(db)
  },
}
