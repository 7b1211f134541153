import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** By which clock the borders of a silence were worked on last. */
export const silenceClocks: Migration = {
  name: '0042-silence-clocks',
  async up({ db, capabilities: { integer } }) {
    await sql`alter table alert_silences add column seen_at ${integer}`.execute(db)
  },
}
