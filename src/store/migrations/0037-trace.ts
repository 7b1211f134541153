import { sql } from 'kysely'
import type { Migration } from './migration.ts'

const TABLES = [
  'alert_messages',
  'alert_notifications',
  'command_executions',
  'data_backups',
  'messages',
  'payments',
  'payment_reconciliations',
  'payment_refunds',
  'telemetry_uploads',
  'webhooks',
]

/** The trace of the request that a row is of; null in the rows of older programs. */
export const addTraces: Migration = {
  name: '0037-trace',
  async up({ db }) {
    for (const table of TABLES) await sql`alter table ${sql.table(table)} add column trace text`.execute(db)
  },
}
