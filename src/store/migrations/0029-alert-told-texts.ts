import type { Migration } from './migration.ts'

/** Which texts of each alert each receiver was told last; unknown for what was told before. */
export const alertToldTexts: Migration = {
  name: '0029-alert-told-texts',
  breaking: false,
  async up({ db }) {
    await db.schema.alterTable('alert_told').addColumn('text_hash', 'text').execute()
  },
}
