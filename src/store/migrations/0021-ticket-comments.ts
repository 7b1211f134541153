import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const ticketComments: Migration = {
  name: '0021-ticket-comments',
  async up({ db }) {
    await sql`create index ticket_changes_with_comment on ticket_changes (ticket_id, seq)
      where comment is not null`.execute(db)
  },
}
