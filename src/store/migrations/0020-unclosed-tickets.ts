import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const unclosedTickets: Migration = {
  name: '0020-unclosed-tickets',
  async up({ db }) {
    await sql`create index tickets_unclosed_by_seq on tickets (seq) where closed_at is null`.execute(db)
  },
}
