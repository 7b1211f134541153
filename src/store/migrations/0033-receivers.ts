import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Several receivers: each has its own messages and health; what is due later for an alert; runbooks. */
export const receivers: Migration = {
  name: '0033-receivers',
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await sql`alter table alerts add column runbook_url text`.execute(db)
    await sql`alter table alert_notifications add column due_at ${integer}`.execute(db)
    await sql`alter table alert_messages add column channel text not null default 'robot'`.execute(db)
    await sql`alter table alert_messages add column details text`.execute(db)
    await sql`alter table alert_messages add column is_notice ${integer} not null default 0`.execute(db)
    await sql`alter table alert_channels add column last_success_at ${integer}`.execute(db)
    await sql`alter table alert_channels add column last_error text`.execute(db)
    await sql`alter table alert_channels add column failing_since ${integer}`.execute(db)
    await sql`alter table alert_channels add column is_reported ${integer} not null default 0`.execute(db)
    await sql`create index alert_notifications_by_channel on alert_notifications (channel, weight desc, seq)
      where outcome = 'pending' and message_id is null`.execute(db)
    await sql`drop index alert_notifications_by_weight`.execute(db)

    await sql`
      create table alert_episodes (
        alert_id text not null references alerts (id) on delete cascade,
        route text not null,
        started_at ${integer} not null,
        step ${integer} not null,
        escalate_at ${integer},
        repeat_at ${integer},
        due_at ${integer},
        constraint alert_episodes_key primary key (alert_id, route)
      ) ${tableSuffix}`.execute(db)
    await sql`
      create table alert_dampings (
        alert_id text primary key references alerts (id) on delete cascade,
        tellings text not null,
        weight ${integer} not null,
        quiet_since ${integer},
        changes ${integer} not null,
        due_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index alert_episodes_due on alert_episodes (due_at) where due_at is not null`.execute(db)
    await sql`create index alert_dampings_due on alert_dampings (due_at) where due_at is not null`.execute(db)
  },
}
