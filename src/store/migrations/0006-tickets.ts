import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addTickets: Migration = {
  name: '0006-tickets',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table tickets (
        seq ${numbered},
        id text not null unique,
        title text not null,
        level text not null check (level in ('critical', 'high', 'medium', 'low', 'info')),
        status text not null check (status in ('open', 'in_progress', 'resolved', 'closed')),
        description text,
        source text,
        dedup_key text,
        assignee text,
        comment_count ${integer} not null,
        created_by text not null,
        created_at ${integer} not null,
        updated_at ${integer} not null,
        resolved_at ${integer},
        closed_at ${integer},
        version ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index tickets_by_status on tickets (status, seq)`.execute(db)
    await sql`create index tickets_by_level on tickets (level, seq)`.execute(db)
    await sql`create index tickets_by_source on tickets (source, seq)`.execute(db)
    await sql`create index tickets_by_assignee on tickets (assignee, seq)`.execute(db)
    await sql`create index tickets_unclosed on tickets (level) where closed_at is null`.execute(db)

    await sql`
      create table ticket_changes (
        seq ${numbered},
        id text not null,
        ticket_id text not null references tickets (id),
        at ${integer} not null,
        actor text not null,
        changes text not null,
        comment text
      ) ${tableSuffix}`.execute(db)
    await sql`create index ticket_changes_of_ticket on ticket_changes (ticket_id, seq)`.execute(db)

    // The key of a ticket that is not closed; its primary key decides between concurrent creations. It is a table of its
    // own because a reopened ticket takes its key back only if that is free, and an update cannot skip a conflict.
    await sql`
      create table ticket_dedup_keys (
        dedup_key text not null primary key,
        ticket_id text not null
      ) ${tableSuffix}`.execute(db)
  },
}
