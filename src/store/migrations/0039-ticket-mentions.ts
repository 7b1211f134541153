import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The tickets in whose comments a user is mentioned. Comments from before it count as without mentions. */
export const ticketMentions: Migration = {
  name: '0039-ticket-mentions',
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await sql`
      create table ticket_mentions (
        user_id text not null,
        ticket_seq ${integer} not null references tickets (seq),
        constraint ticket_mentions_key primary key (user_id, ticket_seq)
      ) ${tableSuffix}`.execute(db)
  },
}
