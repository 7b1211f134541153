import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const unclosedTickets: Migration = {
  name: '0020-unclosed-tickets',
  breaking: false,
  async up({ db }) {
    await db.schema
      .createIndex('tickets_unclosed_by_seq')
      .on('tickets')
      .column('seq')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
  },
}
