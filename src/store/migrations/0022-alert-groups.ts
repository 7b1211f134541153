import type { Migration } from './migration.ts'

/** Until when the alerts of each group of an Alertmanager fire, unless the group is heard of again. */
export const addAlertGroups: Migration = {
  name: '0022-alert-groups',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('alert_groups')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('fires_until', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.alterTable('alerts').addColumn('group_id', 'text').execute()
  },
}
