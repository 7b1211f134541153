import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addSignIn: Migration = {
  name: '0014-sign-in',
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities

    await sql`
      create table sign_in_tickets (
        ticket_hash text primary key,
        user_id text not null,
        token_generation ${integer} not null,
        expires_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`
      create table sign_in_answers (
        state_hash text primary key,
        expires_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    // What has expired is removed in this order.
    await sql`create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at)`.execute(db)
    await sql`create index sign_in_answers_by_expiry on sign_in_answers (expires_at)`.execute(db)
  },
}
