import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Endpoints that get events, and what was sent to them. */
export const addWebhooks: Migration = {
  name: '0035-webhooks',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table webhooks (
        seq ${numbered},
        id text not null unique,
        url text not null,
        subjects text not null,
        description text not null,
        ordered ${integer} not null,
        enabled ${integer} not null,
        disabled_reason text,
        version ${integer} not null,
        created_at ${integer} not null,
        created_by text not null,
        updated_at ${integer} not null,
        updated_by text not null,
        failing_since ${integer},
        last_success_at ${integer},
        pending ${integer} not null,
        secret text not null,
        former_secret text,
        former_secret_until ${integer},
        place ${integer} not null,
        paused_until ${integer},
        recover_since ${integer},
        due_at ${integer},
        lease_holder text,
        attempts ${integer} not null,
        queued_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index webhooks_due on webhooks (due_at) where due_at is not null`.execute(db)

    await sql`
      create table webhook_deliveries (
        seq ${numbered},
        id text not null unique,
        webhook_id text not null,
        place ${integer},
        event_id text not null,
        type text not null,
        thing text not null,
        payload text,
        status text not null check (status in ('pending', 'delivered', 'failed')),
        attempts ${integer} not null,
        created_at ${integer} not null,
        due_at ${integer},
        first_tried_at ${integer},
        tried_at ${integer},
        finished_at ${integer},
        response_status ${integer},
        response_headers text,
        response_body text,
        error text
      ) ${tableSuffix}`.execute(db)
    await sql`create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, seq)`.execute(db)
    await sql`create index webhook_deliveries_by_status on webhook_deliveries (webhook_id, status, seq)`.execute(
      db,
    )
    // An event that a recovery reads again is sent once.
    await sql`create unique index webhook_deliveries_by_place on webhook_deliveries (webhook_id, place)
      where place is not null`.execute(db)
    await sql`create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at, seq)
      where due_at is not null`.execute(db)
    await sql`create index webhook_deliveries_pending on webhook_deliveries (webhook_id, thing, seq)
      where status = 'pending'`.execute(db)
    await sql`create index webhook_deliveries_finished on webhook_deliveries (finished_at)
      where finished_at is not null`.execute(db)
  },
}
