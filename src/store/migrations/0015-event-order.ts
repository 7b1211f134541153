import type { Migration } from './migration.ts'

export const eventOrder: Migration = {
  name: '0015-event-order',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    // Earlier uploads come before all messages in the live stream.
    await db.schema
      .alterTable('telemetry_uploads')
      .addColumn('after_message', integer, (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
