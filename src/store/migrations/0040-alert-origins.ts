import type { Migration } from './migration.ts'

/** Since when an alert fires, and where it comes from, as its sender says. */
export const alertOrigins: Migration = {
  name: '0040-alert-origins',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    await db.schema.alterTable('alerts').addColumn('starts_at', integer).execute()
    await db.schema.alterTable('alerts').addColumn('generator_url', 'text').execute()
  },
}
