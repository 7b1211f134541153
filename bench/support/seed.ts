import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrateDatabase } from './platform-server.ts'

const SEEDED_AT = Date.UTC(2026, 0, 1)
const BATCH = 100_000

/** Fills the database of a data directory with completed orders, each with the delivered event of its creation. */
export async function seedOrders(dataDir: string, count: number): Promise<void> {
  await migrateDatabase(dataDir)
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  for (let from = 0; from < count; from += BATCH) {
    database.exec('begin')
    database.prepare(ORDERS).run({ from, to: Math.min(from + BATCH, count), at: SEEDED_AT })
    database.prepare(MESSAGES).run({ from, to: Math.min(from + BATCH, count), at: SEEDED_AT })
    database.exec('commit')
  }
}

const NUMBERS =
  'with recursive numbers(n) as (select :from union all select n + 1 from numbers where n + 1 < :to)'

const ORDERS = `${NUMBERS}
  insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at,
    paid_at, completed_at, version)
  select printf('seed-%012d', n), 'live', 4990, 'completed', :at + n, :at + n, 'seed', :at + n, :at + n, :at + n, 3
  from numbers`

// As long as a real event; UUIDs of version 7 rise as these ids do.
const MESSAGES = `${NUMBERS}
  insert into messages (id, subject, payload, headers, status, attempts, created_at, delivered_at)
  select printf('01900000-0000-7000-8000-%012x', n), 'order.created', printf('{"padding":"%0540d"}', n),
    '{"content-type":"application/cloudevents+json; charset=utf-8"}', 'delivered', 1, :at + n, :at + n
  from numbers`
