import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Lists of alerts of one status or source, by severity; alerts_by_weight answers those of all. */
export const alertSeverities: Migration = {
  name: '0038-alert-severities',
  async up({ db }) {
    await sql`create index alerts_by_status_weight on alerts (status, weight, seq)`.execute(db)
    await sql`create index alerts_by_source_weight on alerts (source, weight, seq)`.execute(db)
  },
}
