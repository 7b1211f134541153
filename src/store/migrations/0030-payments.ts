import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Payments, their refunds, the callbacks of providers, and the reconciliations with their books. */
export const addPayments: Migration = {
  name: '0030-payments',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('payments')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('order_id', 'text')
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('creating', 'open', 'paid', 'closed', 'failed')`),
      )
      .addColumn('amount_cents', integer, (column) => column.notNull())
      .addColumn('currency', 'text', (column) => column.notNull())
      .addColumn('number', 'text', (column) => column.notNull().unique())
      .addColumn('provider_id', 'text')
      .addColumn('paid_cents', integer)
      .addColumn('refunded_cents', integer, (column) => column.notNull())
      .addColumn('reserved_cents', integer, (column) => column.notNull())
      .addColumn('attention', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('paid_at', integer)
      .addColumn('closed_at', integer)
      .addColumn('failed_reason', 'text')
      .addColumn('parameters', 'text', (column) => column.notNull())
      .addColumn('action_type', 'text')
      .addColumn('action_url', 'text')
      .addColumn('action_expires_at', integer)
      .addColumn('order_ends_at', integer)
      .addColumn('is_closing', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    for (const column of ['order_id', 'channel', 'status'])
      await db.schema.createIndex(`payments_by_${column}`).on('payments').columns([column, 'seq']).execute()
    await db.schema
      .createIndex('payments_with_attention')
      .on('payments')
      .column('seq')
      .where(sql.ref('attention'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('payments_paid')
      .on('payments')
      .columns(['channel', 'paid_at', 'seq'])
      .where(sql.ref('paid_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('payments_due')
      .on('payments')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    // One payment of an order is open on a channel at a time.
    await db.schema
      .createIndex('payments_open')
      .unique()
      .on('payments')
      .columns(['order_id', 'channel'])
      .where(sql<boolean>`status in ('creating', 'open')`)
      .execute()

    await db.schema
      .createTable('payment_history')
      .addColumn('seq', integer, numbered)
      .addColumn('payment_id', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('change', 'text', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('note', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('payment_history_by_payment')
      .on('payment_history')
      .columns(['payment_id', 'seq'])
      .execute()

    await db.schema
      .createTable('payment_refunds')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('payment_id', 'text', (column) => column.notNull())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('number', 'text', (column) => column.notNull().unique())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('pending', 'succeeded', 'failed')`),
      )
      .addColumn('amount_cents', integer, (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('provider_id', 'text')
      .addColumn('failed_reason', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('finished_at', integer)
      .addColumn('is_sent', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('payment_refunds_by_payment')
      .on('payment_refunds')
      .columns(['payment_id', 'seq'])
      .execute()
    await db.schema
      .createIndex('payment_refunds_finished')
      .on('payment_refunds')
      .columns(['channel', 'finished_at', 'seq'])
      .where(sql.ref('finished_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('payment_refunds_due')
      .on('payment_refunds')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()

    await db.schema
      .createTable('payment_callbacks')
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('event_id', 'text', (column) => column.notNull())
      .addColumn('received_at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('payment_callbacks_key', ['channel', 'event_id'])
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('payment_callbacks_received')
      .on('payment_callbacks')
      .column('received_at')
      .execute()

    await db.schema
      .createTable('payment_reconciliations')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('channel', 'text', (column) => column.notNull())
      .addColumn('date', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in ('running', 'matched', 'differs', 'failed')`),
      )
      .addColumn('matched', integer, (column) => column.notNull())
      .addColumn('differences', integer, (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('finished_at', integer)
      .addColumn('requested_by', 'text', (column) => column.notNull())
      .addColumn('is_alerted', integer, (column) => column.notNull())
      .addColumn('due_at', integer)
      .addColumn('lease_holder', 'text')
      .addColumn('attempts', integer, (column) => column.notNull())
      .addColumn('queued_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('payment_reconciliations_by_day')
      .on('payment_reconciliations')
      .columns(['channel', 'date', 'seq'])
      .execute()
    await db.schema
      .createIndex('payment_reconciliations_due')
      .on('payment_reconciliations')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    // One at a time for a channel.
    await db.schema
      .createIndex('payment_reconciliations_running')
      .unique()
      .on('payment_reconciliations')
      .column('channel')
      .where(sql.ref('status'), '=', sql.lit('running'))
      .execute()

    await db.schema
      .createTable('payment_differences')
      .addColumn('seq', integer, numbered)
      .addColumn('reconciliation_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('number', 'text', (column) => column.notNull())
      .addColumn('payment_id', 'text')
      .addColumn('here_status', 'text')
      .addColumn('here_cents', integer)
      .addColumn('there_status', 'text')
      .addColumn('there_cents', integer)
      .addColumn('provider_id', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('payment_differences_by_run')
      .on('payment_differences')
      .columns(['reconciliation_id', 'seq'])
      .execute()
  },
}
