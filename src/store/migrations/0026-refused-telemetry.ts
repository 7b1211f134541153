import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The agents whose telemetry the bus refuses, for the end of the alert about them. */
export const refusedTelemetry: Migration = {
  name: '0026-refused-telemetry',
  async up({ db, capabilities: { integer } }) {
    await sql`alter table telemetry_agents add column refused_at ${integer}`.execute(db)
    await sql`create index telemetry_agents_refused on telemetry_agents (refused_at)
      where refused_at is not null`.execute(db)
  },
}
