import { sql } from 'kysely'
import type { Migration } from './migration.ts'

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
