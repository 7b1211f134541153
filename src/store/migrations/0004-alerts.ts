import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const alertRules: Migration = {
  name: '0004-alerts',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    // What the rules remember of an alert. A program that does not know them inserts the defaults.
    const memory = [
      ['created_by', 'text', 'unknown'],
      ['first_weight', integer, 0],
      ['reports', integer, 0],
      ['was_critical', integer, 0],
      ['was_high', integer, 0],
      ['swings', 'text', '[]'],
    ] as const
    for (const [name, type, initial] of memory)
      await db.schema
        .alterTable('alerts')
        .addColumn(name, type, (column) => column.notNull().defaultTo(initial))
        .execute()
    for (const name of ['acknowledged_weight', 'acknowledged_until', 'expires_at', 'due_at'])
      await db.schema.alterTable('alerts').addColumn(name, integer).execute()
    await db.schema.alterTable('alerts').addColumn('freeze', 'text').execute()
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
    await db.schema
      .createIndex('alerts_due')
      .on('alerts')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('alerts_recovered')
      .on('alerts')
      .column('recovered_at')
      .where(sql.ref('recovered_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_history')
      .addColumn('seq', integer, numbered)
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('from_status', 'text', (column) => column.notNull())
      .addColumn('to_status', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('note', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_history_of_alert')
      .on('alert_history')
      .columns(['alert_id', 'seq'])
      .execute()

    await db.schema
      .createTable('alert_silences')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('matchers', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('starts_at', integer, (column) => column.notNull())
      .addColumn('ends_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('ended_by', 'text')
      .addColumn('due_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_silences_due')
      .on('alert_silences')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await db.schema.createIndex('alert_silences_by_end').on('alert_silences').column('ends_at').execute()
  },
}

export const alertNotifications: Migration = {
  name: '0005-notifications',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('alert_notifications')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('occasion', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('content', 'text')
      .addColumn('message_id', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_notifications_of_alert')
      .on('alert_notifications')
      .columns(['alert_id', 'seq'])
      .execute()
    // Only what is not decided yet.
    await db.schema
      .createIndex('alert_notifications_pending')
      .on('alert_notifications')
      .column('seq')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .execute()
    await db.schema
      .createIndex('alert_notifications_urgent')
      .on('alert_notifications')
      .column('alert_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('weight'), '=', sql.lit(6))
      .execute()
    await db.schema
      .createIndex('alert_notifications_in_message')
      .on('alert_notifications')
      .column('message_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('is_refused', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('alert_messages_due')
      .on('alert_messages')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('alert_channels')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('rate', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.insertInto('alert_channels').values({ name: 'robot', rate: null }).execute()
  },
}

export const addTickets: Migration = {
  name: '0006-tickets',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('tickets')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) =>
        column.notNull().check(sql`level in ('critical', 'high', 'medium', 'low', 'info')`),
      )
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('open', 'in_progress', 'resolved', 'closed')`),
      )
      .addColumn('description', 'text')
      .addColumn('source', 'text')
      .addColumn('dedup_key', 'text')
      .addColumn('assignee', 'text')
      .addColumn('comment_count', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('resolved_at', integer)
      .addColumn('closed_at', integer)
      .addColumn('version', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    for (const column of ['status', 'level', 'source', 'assignee'])
      await db.schema.createIndex(`tickets_by_${column}`).on('tickets').columns([column, 'seq']).execute()
    await db.schema
      .createIndex('tickets_unclosed')
      .on('tickets')
      .column('level')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()

    await db.schema
      .createTable('ticket_changes')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('ticket_id', 'text', (column) => column.notNull().references('tickets.id'))
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('changes', 'text', (column) => column.notNull())
      .addColumn('comment', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('ticket_changes_of_ticket')
      .on('ticket_changes')
      .columns(['ticket_id', 'seq'])
      .execute()

    // The key of a ticket that is not closed; its primary key decides between concurrent creations. It is a table of its
    // own because a reopened ticket takes its key back only if that is free, and an update cannot skip a conflict.
    await db.schema
      .createTable('ticket_dedup_keys')
      .addColumn('dedup_key', 'text', (column) => column.primaryKey().notNull())
      .addColumn('ticket_id', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
  },
}
