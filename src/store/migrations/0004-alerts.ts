import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const alertRules: Migration = {
  name: '0004-alerts',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    // What the rules remember of an alert. A program that does not know them inserts the defaults.
    await sql`alter table alerts add column created_by text not null default 'unknown'`.execute(db)
    await sql`alter table alerts add column first_weight ${integer} not null default 0`.execute(db)
    await sql`alter table alerts add column reports ${integer} not null default 0`.execute(db)
    await sql`alter table alerts add column was_critical ${integer} not null default 0`.execute(db)
    await sql`alter table alerts add column was_high ${integer} not null default 0`.execute(db)
    await sql`alter table alerts add column swings text not null default '[]'`.execute(db)
    await sql`alter table alerts add column acknowledged_weight ${integer}`.execute(db)
    await sql`alter table alerts add column acknowledged_until ${integer}`.execute(db)
    await sql`alter table alerts add column expires_at ${integer}`.execute(db)
    await sql`alter table alerts add column due_at ${integer}`.execute(db)
    await sql`alter table alerts add column "freeze" text`.execute(db)
    await sql`
      update alerts set reports = count, first_weight = weight,
        was_critical = case when weight = 6 then 1 else 0 end, was_high = case when weight = 5 then 1 else 0 end
    `.execute(db)
    // Notices of earlier releases recover 24 hours after their last report, like the ones of this release.
    await sql`
      update alerts set expires_at = last_at + 86400000, due_at = last_at + 86400000
      where status = 'firing' and weight in (1, 2)
    `.execute(db)
    // Only what waits for a time is in it.
    await sql`create index alerts_due on alerts (due_at) where due_at is not null`.execute(db)
    await sql`create index alerts_recovered on alerts (recovered_at)
      where recovered_at is not null`.execute(db)

    await sql`
      create table alert_history (
        seq ${numbered},
        alert_id text not null references alerts (id) on delete cascade,
        at ${integer} not null,
        from_status text not null,
        to_status text not null,
        weight ${integer} not null,
        actor text not null,
        note text
      ) ${tableSuffix}`.execute(db)
    await sql`create index alert_history_of_alert on alert_history (alert_id, seq)`.execute(db)

    await sql`
      create table alert_silences (
        seq ${numbered},
        id text not null unique,
        matchers text not null,
        reason text not null,
        starts_at ${integer} not null,
        ends_at ${integer} not null,
        created_by text not null,
        created_at ${integer} not null,
        ended_by text,
        due_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index alert_silences_due on alert_silences (due_at) where due_at is not null`.execute(db)
    await sql`create index alert_silences_by_end on alert_silences (ends_at)`.execute(db)
  },
}
