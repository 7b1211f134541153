import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Which texts of each alert each receiver was told last; unknown for what was told before. */
export const alertToldTexts: Migration = {
  name: '0029-alert-told-texts',
  async up({ db }) {
    await sql`alter table alert_told add column text_hash text`.execute(db)
  },
}
