import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeatPings: Migration = {
  name: '0031-heartbeat-pings',
  breaking: false,
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    const columns = [
      ['ping_hash', 'text'],
      ['schedule', 'text'],
      ['time_zone', 'text'],
      ['max_run_seconds', integer],
      ['started_at', integer],
      ['duration_seconds', integer],
    ] as const
    for (const [name, type] of columns)
      await db.schema.alterTable('heartbeats').addColumn(name, type).execute()
    await db.schema
      .createIndex('heartbeats_by_ping_hash')
      .on('heartbeats')
      .column('ping_hash')
      .unique()
      .where(sql.ref('ping_hash'), 'is not', null)
      .execute()
    await db.schema
      .createTable('heartbeat_pings')
      .addColumn('seq', integer, numbered)
      .addColumn('heartbeat', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('exit_code', integer)
      .addColumn('duration_seconds', integer)
      .addColumn('remote_address', 'text')
      .addColumn('body', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('heartbeat_pings_by_heartbeat')
      .on('heartbeat_pings')
      .columns(['heartbeat', 'seq'])
      .execute()
  },
}

/** The code and the values of a stored sentence; null in the rows of older programs. */
export const causes: Migration = {
  name: '0032-causes',
  breaking: false,
  async up({ db }) {
    for (const table of ['messages', 'alert_notifications', 'alert_history', 'vpn_audit'])
      await db.schema.alterTable(table).addColumn('cause', 'text').execute()
  },
}

/** Several receivers: each has its own messages and health; what is due later for an alert; runbooks. */
export const receivers: Migration = {
  name: '0033-receivers',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema.alterTable('alerts').addColumn('runbook_url', 'text').execute()
    await db.schema.alterTable('alert_notifications').addColumn('due_at', integer).execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('channel', 'text', (column) => column.notNull().defaultTo('robot'))
      .execute()
    await db.schema.alterTable('alert_messages').addColumn('details', 'text').execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('is_notice', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    for (const [name, type] of [
      ['last_success_at', integer],
      ['last_error', 'text'],
      ['failing_since', integer],
    ] as const)
      await db.schema.alterTable('alert_channels').addColumn(name, type).execute()
    await db.schema
      .alterTable('alert_channels')
      .addColumn('is_reported', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createIndex('alert_notifications_by_channel')
      .on('alert_notifications')
      .columns(['channel', 'weight desc', 'seq'])
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is', null)
      .execute()
    await db.schema.dropIndex('alert_notifications_by_weight').execute()

    await db.schema
      .createTable('alert_episodes')
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('route', 'text', (column) => column.notNull())
      .addColumn('started_at', integer, (column) => column.notNull())
      .addColumn('step', integer, (column) => column.notNull())
      .addColumn('escalate_at', integer)
      .addColumn('repeat_at', integer)
      .addColumn('due_at', integer)
      .addPrimaryKeyConstraint('alert_episodes_key', ['alert_id', 'route'])
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('alert_dampings')
      .addColumn('alert_id', 'text', (column) =>
        column.primaryKey().references('alerts.id').onDelete('cascade'),
      )
      .addColumn('tellings', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('quiet_since', integer)
      .addColumn('changes', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    for (const table of ['alert_episodes', 'alert_dampings'])
      await db.schema
        .createIndex(`${table}_due`)
        .on(table)
        .column('due_at')
        .where(sql.ref('due_at'), 'is not', null)
        .execute()
  },
}

/** Silences that repeat or match labels, and the labels of alerts; null in the rows of older programs. */
export const addSilencesAndLabels: Migration = {
  name: '0034-silences-and-labels',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    const columns = [
      ['repeat', 'text'],
      ['window_starts_at', integer],
      ['window_ends_at', integer],
      ['label_matchers', 'text'],
    ] as const
    for (const [name, type] of columns)
      await db.schema.alterTable('alert_silences').addColumn(name, type).execute()
    await db.schema.alterTable('alerts').addColumn('labels', 'text').execute()
  },
}
