import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Endpoints that get events, and what was sent to them. */
export const addWebhooks: Migration = {
  name: '0035-webhooks',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('webhooks')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('subjects', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('ordered', integer, (column) => column.notNull())
      .addColumn('enabled', integer, (column) => column.notNull())
      .addColumn('disabled_reason', 'text')
      .addColumn('version', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('updated_by', 'text', (column) => column.notNull())
      .addColumn('failing_since', integer)
      .addColumn('last_success_at', integer)
      .addColumn('pending', integer, (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('former_secret', 'text')
      .addColumn('former_secret_until', integer)
      .addColumn('place', integer, (column) => column.notNull())
      .addColumn('paused_until', integer)
      .addColumn('recover_since', integer)
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('webhooks_due')
      .on('webhooks')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('webhook_deliveries')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('webhook_id', 'text', (column) => column.notNull())
      .addColumn('place', integer)
      .addColumn('event_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('thing', 'text', (column) => column.notNull())
      .addColumn('payload', 'text')
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('pending', 'delivered', 'failed')`),
      )
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('first_tried_at', integer)
      .addColumn('tried_at', integer)
      .addColumn('finished_at', integer)
      .addColumn('response_status', integer)
      .addColumn('response_headers', 'text')
      .addColumn('response_body', 'text')
      .addColumn('error', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    const onDeliveries = (name: string, ...columns: string[]) =>
      db.schema.createIndex(name).on('webhook_deliveries').columns(columns)
    await onDeliveries('webhook_deliveries_by_webhook', 'webhook_id', 'seq').execute()
    await onDeliveries('webhook_deliveries_by_status', 'webhook_id', 'status', 'seq').execute()
    // An event that a recovery reads again is sent once.
    await onDeliveries('webhook_deliveries_by_place', 'webhook_id', 'place')
      .unique()
      .where(sql.ref('place'), 'is not', null)
      .execute()
    await onDeliveries('webhook_deliveries_due', 'webhook_id', 'due_at', 'seq')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await onDeliveries('webhook_deliveries_pending', 'webhook_id', 'thing', 'seq')
      .where(sql<boolean>`status = 'pending'`)
      .execute()
    await onDeliveries('webhook_deliveries_finished', 'finished_at')
      .where(sql.ref('finished_at'), 'is not', null)
      .execute()
  },
}
