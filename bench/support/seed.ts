import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { migrateDatabase, openDatabase, sqliteIn } from './database.ts'
import type { RoundOptions } from './rounds.ts'

const SEEDED_AT = Date.UTC(2026, 0, 1)
// Beyond any run of a benchmark: what is pending stays so.
const NEVER = Date.UTC(2100, 0, 1)
const BATCH = 100_000

export interface Seed {
  readonly orders: number
  /** Whether each order has the delivered event of its creation; without it a large database is there far sooner. */
  readonly events?: boolean
}

/** Fills the database of a data directory with orders of every status, one in five of them pending. */
export async function seedOrders(
  dataDir: string,
  { orders, events = false }: Seed,
  { signal, onSlice }: Pick<RoundOptions, 'signal' | 'onSlice'>,
): Promise<void> {
  await migrateDatabase(sqliteIn(dataDir))
  using database = openDatabase(dataDir)
  database.exec(FAST)
  for (let from = 0; from < orders; from += BATCH) {
    signal.throwIfAborted()
    onSlice(`filling a database: ${from.toLocaleString('en')} of ${orders.toLocaleString('en')} orders`)
    const values = { from, to: Math.min(from + BATCH, orders), at: SEEDED_AT }
    database.exec('begin')
    database.prepare(ORDERS).run({ ...values, never: NEVER })
    if (events) database.prepare(MESSAGES).run(values)
    database.exec('commit')
    await nextTurn()
  }
  database.exec('pragma journal_mode = wal')
}

/** Adds pending orders that are due at that time (epoch milliseconds), to a database that may be in use. */
export function addDueOrders(database: DatabaseSync, count: number, dueAt: number): void {
  database.prepare(DUE).run({ from: 0, to: count, run: String(dueAt), at: SEEDED_AT, dueAt })
}

/** Adds messages that wait for the bus, as long as real events are, to a database that may be in use. */
export function addPendingMessages(database: DatabaseSync, count: number, at: number): void {
  database.prepare(PENDING).run({ from: 0, to: count, run: at.toString(16).padStart(12, '0'), at })
}

// A seed that was interrupted is thrown away, so nothing needs to survive.
const FAST = 'pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -262144'

const NUMBERS =
  'with recursive numbers(n) as (select :from union all select n + 1 from numbers where n + 1 < :to)'

const ORDER_COLUMNS =
  'order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at, version'

const ORDERS = `${NUMBERS}
  insert into orders (${ORDER_COLUMNS}, paid_at, shipped_at, completed_at, expired_at)
  select printf('seed-%012d', n), 'live', 4990, status, iif(status = 'pending', :never, :at + n), :at + n, 'seed',
    :at + n, iif(status = 'pending', 1, 2), iif(status in ('paid', 'shipped', 'completed'), :at + n, null),
    iif(status = 'shipped', :at + n, null), iif(status = 'completed', :at + n, null),
    iif(status = 'expired', :at + n, null)
  from (select n, case n % 5 when 0 then 'pending' when 1 then 'paid' when 2 then 'shipped' when 3 then 'completed'
    else 'expired' end as status from numbers)`

const DUE = `${NUMBERS}
  insert into orders (${ORDER_COLUMNS})
  select 'due-' || :run || printf('-%06d', n), 'live', 4990, 'pending', :dueAt, :at, 'seed', :at, 1 from numbers`

const MESSAGE_COLUMNS = 'id, subject, payload, headers, status, attempts, created_at, delivered_at'
const PAYLOAD = `printf('{"padding":"%0540d"}', n)`
const HEADERS = `'{"content-type":"application/cloudevents+json; charset=utf-8"}'`

// As long as a real event; UUIDs of version 7 rise as these ids do.
const MESSAGES = `${NUMBERS}
  insert into messages (${MESSAGE_COLUMNS})
  select printf('01900000-0000-7000-8000-%012x', n), 'order.created', ${PAYLOAD}, ${HEADERS}, 'delivered', 1, :at + n,
    :at + n from numbers`

const PENDING = `${NUMBERS}
  insert into messages (${MESSAGE_COLUMNS})
  select substr(:run, 1, 8) || '-' || substr(:run, 9, 4) || printf('-7000-8000-%012x', n), 'order.created', ${PAYLOAD},
    ${HEADERS}, 'pending', 0, :at, null from numbers`
