import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The code and the values of a stored sentence; null in the rows of older programs. */
export const causes: Migration = {
  name: '0032-causes',
  async up({ db }) {
    for (const table of ['messages', 'alert_notifications', 'alert_history', 'vpn_audit'])
      await sql`alter table ${sql.table(table)} add column cause text`.execute(db)
  },
}
