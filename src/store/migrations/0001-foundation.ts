import { sql } from 'kysely'
import type { Migration } from './migration.ts'
import { orderColumns, orderHistoryColumns } from './order-tables.ts'

export const foundation: Migration = {
  name: '0001-foundation',
  async up({ db, capabilities }) {
    const { integer, numbered, numberedAbove, tableSuffix } = capabilities

    await sql`
      create table users (
        seq ${numbered},
        id text not null unique,
        name text not null,
        name_key text not null unique,
        password_hash text not null,
        roles text not null,
        enabled ${integer} not null,
        token_generation ${integer} not null,
        tokens_valid_from ${integer} not null,
        created_at ${integer} not null,
        updated_at ${integer} not null,
        last_login_at ${integer}
      ) ${tableSuffix}`.execute(db)

    await sql`
      create table orders (
        seq ${numberedAbove},
        ${orderColumns(integer, ['pending', 'paid', 'shipped', 'completed', 'expired'])}
      ) ${tableSuffix}`.execute(db)
    await sql`create index orders_by_status on orders (status, seq)`.execute(db)
    await sql`create index orders_by_platform on orders (platform, seq)`.execute(db)
    // The index of the timeout scan. It contains only pending orders, so it stays small however many orders there are.
    // Its first column is the status, although that is constant: otherwise SQLite prefers orders_by_status, and reads
    // every pending order.
    await sql`create index orders_due on orders (status, expires_at) where status = 'pending'`.execute(db)

    await sql`
      create table order_history (
        ${orderHistoryColumns(integer, 'orders')},
        constraint order_history_key primary key (order_id, version)
      ) ${tableSuffix}`.execute(db)

    await sql`
      create table messages (
        seq ${numberedAbove},
        id text not null unique,
        subject text not null,
        payload text not null,
        headers text not null,
        status text not null check (status in ('pending', 'delivered', 'dead')),
        attempts ${integer} not null,
        last_error text,
        created_at ${integer} not null,
        delivered_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index messages_by_subject on messages (subject, seq)`.execute(db)
    // Most messages are delivered; the pending and the dead ones, which the queries select, are few. Each has its own
    // index, because SQLite uses a partial index only for a query that repeats its condition.
    await sql`create index messages_pending on messages (status, seq) where status = 'pending'`.execute(db)
    await sql`create index messages_dead on messages (status, seq) where status = 'dead'`.execute(db)
    await sql`create index messages_delivered on messages (delivered_at)
      where delivered_at is not null`.execute(db)

    await sql`
      create table alerts (
        seq ${numbered},
        id text not null unique,
        identity text not null unique,
        alarm_id text,
        source text not null,
        title text not null,
        body text not null,
        level ${integer} not null,
        weight ${integer} not null,
        server_addr text,
        status text not null check (status in ('firing', 'acknowledged', 'recovered', 'frozen')),
        count ${integer} not null,
        first_at ${integer} not null,
        last_at ${integer} not null,
        recovered_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index alerts_by_status on alerts (status, seq)`.execute(db)
    await sql`create index alerts_by_source on alerts (source, seq)`.execute(db)
    await sql`create index alerts_by_level on alerts (level, seq)`.execute(db)
    await sql`create index alerts_by_weight on alerts (weight, seq)`.execute(db)

    await sql`
      create table idempotency_keys (
        caller text not null,
        key text not null,
        request_hash text not null,
        status ${integer} not null,
        answer text not null,
        created_at ${integer} not null,
        constraint idempotency_keys_key primary key (caller, key)
      ) ${tableSuffix}`.execute(db)
    await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db)

    await sql`
      create table leases (
        name text primary key,
        holder text not null,
        expires_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
  },
}
