import type { Migration } from './migration.ts'

/** The code and the values of a stored sentence; null in the rows of older programs. */
export const causes: Migration = {
  name: '0032-causes',
  breaking: false,
  async up({ db }) {
    for (const table of ['messages', 'alert_notifications', 'alert_history', 'vpn_audit'])
      await db.schema.alterTable(table).addColumn('cause', 'text').execute()
  },
}
