import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const ticketComments: Migration = {
  name: '0021-ticket-comments',
  breaking: false,
  async up({ db }) {
    await db.schema
      .createIndex('ticket_changes_with_comment')
      .on('ticket_changes')
      .columns(['ticket_id', 'seq'])
      .where(sql.ref('comment'), 'is not', null)
      .execute()
  },
}
