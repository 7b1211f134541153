import type { Migration } from './migration.ts'

/** By which clock the borders of a silence were worked on last. */
export const silenceClocks: Migration = {
  name: '0042-silence-clocks',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    await db.schema.alterTable('alert_silences').addColumn('seen_at', integer).execute()
  },
}
