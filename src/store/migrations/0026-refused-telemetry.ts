import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The agents whose telemetry the bus refuses, for the end of the alert about them. */
export const refusedTelemetry: Migration = {
  name: '0026-refused-telemetry',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    await db.schema.alterTable('telemetry_agents').addColumn('refused_at', integer).execute()
    await db.schema
      .createIndex('telemetry_agents_refused')
      .on('telemetry_agents')
      .column('refused_at')
      .where(sql.ref('refused_at'), 'is not', null)
      .execute()
  },
}
