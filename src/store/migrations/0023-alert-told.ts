import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** What each receiver was told last of each alert, and the state of the receivers. */
export const alertTold: Migration = {
  name: '0023-alert-told',
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await sql`
      create table alert_told (
        alert_id text not null references alerts (id) on delete cascade,
        receiver text not null,
        weight ${integer} not null,
        status text not null,
        at ${integer} not null,
        constraint alert_told_key primary key (alert_id, receiver)
      ) ${tableSuffix}`.execute(db)
    await sql`insert into alert_told (alert_id, receiver, weight, status, at)
      select alert_id, channel, weight,
        case when occasion = 'frozen' then 'frozen' when weight = 0 then 'recovered' else 'firing' end, at
      from alert_notifications
      where seq in (select max(seq) from alert_notifications where outcome in ('sent', 'bundled')
        group by alert_id, channel)`.execute(db)
    await sql`alter table alert_messages add column refusals ${integer} not null default 0`.execute(db)
    await sql`alter table alert_messages add column is_uncertain ${integer} not null default 0`.execute(db)
    await sql`alter table alert_channels add column health text`.execute(db)
    await sql`create index alert_notifications_by_weight on alert_notifications (weight desc, seq)
      where outcome = 'pending' and message_id is null`.execute(db)
    await sql`create index alert_notifications_waiting on alert_notifications (alert_id)
      where outcome = 'pending'`.execute(db)
    // The one before also finds what this one found.
    await sql`drop index alert_notifications_urgent`.execute(db)
  },
}
