import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Payments, their refunds, the callbacks of providers, and the reconciliations with their books. */
export const addPayments: Migration = {
  name: '0030-payments',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table payments (
        seq ${numbered},
        id text not null unique,
        order_id text,
        channel text not null,
        status text not null check (status in ('creating', 'open', 'paid', 'closed', 'failed')),
        amount_cents ${integer} not null,
        currency text not null,
        number text not null unique,
        provider_id text,
        paid_cents ${integer},
        refunded_cents ${integer} not null,
        reserved_cents ${integer} not null,
        attention text,
        created_at ${integer} not null,
        created_by text not null,
        paid_at ${integer},
        closed_at ${integer},
        failed_reason text,
        parameters text not null,
        action_type text,
        action_url text,
        action_expires_at ${integer},
        order_ends_at ${integer},
        is_closing ${integer} not null,
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index payments_by_order_id on payments (order_id, seq)`.execute(db)
    await sql`create index payments_by_channel on payments (channel, seq)`.execute(db)
    await sql`create index payments_by_status on payments (status, seq)`.execute(db)
    await sql`create index payments_with_attention on payments (seq) where attention is not null`.execute(db)
    await sql`create index payments_paid on payments (channel, paid_at, seq)
      where paid_at is not null`.execute(db)
    await sql`create index payments_due on payments (due_at) where due_at is not null`.execute(db)
    // One payment of an order is open on a channel at a time.
    await sql`create unique index payments_open on payments (order_id, channel)
      where status in ('creating', 'open')`.execute(db)

    await sql`
      create table payment_history (
        seq ${numbered},
        payment_id text not null,
        at ${integer} not null,
        change text not null,
        actor text not null,
        note text
      ) ${tableSuffix}`.execute(db)
    await sql`create index payment_history_by_payment on payment_history (payment_id, seq)`.execute(db)

    await sql`
      create table payment_refunds (
        seq ${numbered},
        id text not null unique,
        payment_id text not null,
        channel text not null,
        number text not null unique,
        status text not null check (status in ('pending', 'succeeded', 'failed')),
        amount_cents ${integer} not null,
        reason text not null,
        provider_id text,
        failed_reason text,
        created_at ${integer} not null,
        created_by text not null,
        finished_at ${integer},
        is_sent ${integer} not null,
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index payment_refunds_by_payment on payment_refunds (payment_id, seq)`.execute(db)
    await sql`create index payment_refunds_finished on payment_refunds (channel, finished_at, seq)
      where finished_at is not null`.execute(db)
    await sql`create index payment_refunds_due on payment_refunds (due_at)
      where due_at is not null`.execute(db)

    await sql`
      create table payment_callbacks (
        channel text not null,
        event_id text not null,
        received_at ${integer} not null,
        constraint payment_callbacks_key primary key (channel, event_id)
      ) ${tableSuffix}`.execute(db)
    await sql`create index payment_callbacks_received on payment_callbacks (received_at)`.execute(db)

    await sql`
      create table payment_reconciliations (
        seq ${numbered},
        id text not null unique,
        channel text not null,
        date text not null,
        status text not null check (status in ('running', 'matched', 'differs', 'failed')),
        matched ${integer} not null,
        differences ${integer} not null,
        error text,
        created_at ${integer} not null,
        finished_at ${integer},
        requested_by text not null,
        is_alerted ${integer} not null,
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index payment_reconciliations_by_day on payment_reconciliations (channel, date, seq)`.execute(
      db,
    )
    await sql`create index payment_reconciliations_due on payment_reconciliations (due_at)
      where due_at is not null`.execute(db)
    // One at a time for a channel.
    await sql`create unique index payment_reconciliations_running on payment_reconciliations (channel)
      where status = 'running'`.execute(db)

    await sql`
      create table payment_differences (
        seq ${numbered},
        reconciliation_id text not null,
        kind text not null,
        type text not null,
        number text not null,
        payment_id text,
        here_status text,
        here_cents ${integer},
        there_status text,
        there_cents ${integer},
        provider_id text
      ) ${tableSuffix}`.execute(db)
    await sql`create index payment_differences_by_run on payment_differences (reconciliation_id, seq)`.execute(
      db,
    )
  },
}
