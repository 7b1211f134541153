import type { Migration } from './migration.ts'

export const addSignIn: Migration = {
  name: '0014-sign-in',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities

    await db.schema
      .createTable('sign_in_tickets')
      .addColumn('ticket_hash', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('token_generation', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('sign_in_answers')
      .addColumn('state_hash', 'text', (column) => column.primaryKey())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // What has expired is removed in this order.
    await db.schema
      .createIndex('sign_in_tickets_by_expiry')
      .on('sign_in_tickets')
      .column('expires_at')
      .execute()
    await db.schema
      .createIndex('sign_in_answers_by_expiry')
      .on('sign_in_answers')
      .column('expires_at')
      .execute()
  },
}
