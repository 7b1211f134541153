import type { Migration } from './migration.ts'

/** The tickets in whose comments a user is mentioned. Comments from before it count as without mentions. */
export const ticketMentions: Migration = {
  name: '0039-ticket-mentions',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('ticket_mentions')
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('ticket_seq', integer, (column) => column.notNull().references('tickets.seq'))
      .addPrimaryKeyConstraint('ticket_mentions_key', ['user_id', 'ticket_seq'])
      .modifyEnd(tableSuffix)
      .execute()
  },
}
