import { sql } from 'kysely'
import type { Migration } from './migration.ts'

const TABLES = [
  'alerts',
  'alert_silences',
  'certificates',
  'command_executions',
  'data_backups',
  'heartbeats',
  'payments',
]

/** How often an object has changed; orders, tickets and webhooks have the column since their first migrations. */
export const addVersions: Migration = {
  name: '0043-versions',
  async up({ db, capabilities: { integer } }) {
    // A constant default changes no row of either engine.
    for (const table of TABLES)
      await sql`alter table ${sql.table(table)} add column version ${integer} not null default 1`.execute(db)
  },
}
