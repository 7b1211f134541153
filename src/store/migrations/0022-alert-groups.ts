import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Until when the alerts of each group of an Alertmanager fire, unless the group is heard of again. */
export const addAlertGroups: Migration = {
  name: '0022-alert-groups',
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await sql`
      create table alert_groups (
        id text primary key,
        fires_until ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`alter table alerts add column group_id text`.execute(db)
  },
}
