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
  breaking: false,
  async up({ db }) {
    for (const table of TABLES) await db.schema.alterTable(table).addColumn('trace', 'text').execute()
  },
}
