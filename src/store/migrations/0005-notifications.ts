import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const alertNotifications: Migration = {
  name: '0005-notifications',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table alert_notifications (
        seq ${numbered},
        id text not null unique,
        alert_id text not null references alerts (id) on delete cascade,
        at ${integer} not null,
        occasion text not null,
        channel text not null,
        outcome text not null,
        reason text,
        source text not null,
        weight ${integer} not null,
        content text,
        message_id text
      ) ${tableSuffix}`.execute(db)
    await sql`create index alert_notifications_of_alert on alert_notifications (alert_id, seq)`.execute(db)
    // Only what is not decided yet.
    await sql`create index alert_notifications_pending on alert_notifications (seq)
      where outcome = 'pending'`.execute(db)
    await sql`create index alert_notifications_urgent on alert_notifications (alert_id)
      where outcome = 'pending' and weight = 6`.execute(db)
    await sql`create index alert_notifications_in_message on alert_notifications (message_id)
      where outcome = 'pending' and message_id is not null`.execute(db)

    await sql`
      create table alert_messages (
        id text primary key,
        title text not null,
        text text not null,
        level text not null,
        is_refused ${integer} not null,
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index alert_messages_due on alert_messages (due_at) where due_at is not null`.execute(db)

    await sql`
      create table alert_channels (
        name text primary key,
        rate text
      ) ${tableSuffix}`.execute(db)
    await db.insertInto('alert_channels').values({ name: 'robot', rate: null }).execute()
  },
}
