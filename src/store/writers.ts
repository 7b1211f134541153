import { sql } from 'kysely'
import { backoffMs } from '../kernel/retry.ts'
import { SECOND } from '../kernel/time.ts'
import type { Queries } from './store.ts'
import { storeUnavailable } from './unavailable.ts'

/** Transactions, by the identifiers of the engine. */
export type Transactions = ReadonlySet<string>

const WAIT_BACKOFF = { initialMs: 2, maximumMs: 50 }
// Longer than the platform lets a transaction take; another program may hold one open.
const WAIT_LIMIT_MS = 15 * SECOND

/**
 * The open transactions that have written to the table, or are about to write to it: they hold its lock for writing until
 * their changes are visible. Only for an engine with concurrent writers.
 */
export async function readWriters({ db }: Queries, table: string): Promise<Transactions> {
  const { rows } = await sql<{ id: string }>`
    select virtualtransaction as id from pg_locks
    where locktype = 'relation' and mode = 'RowExclusiveLock' and granted
      and relation = ${table}::regclass
      and database = (select oid from pg_database where datname = current_database())
  `.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Waits until the transactions that write to the table now have ended. With one writer there are none. */
export async function waitForWriters(queries: Queries, table: string): Promise<void> {
  if (!queries.capabilities.concurrentWriters) return
  const writers = await readWriters(queries, table)
  const deadline = performance.now() + WAIT_LIMIT_MS
  let running = writers
  for (let attempt = 0; !writers.isDisjointFrom(running); attempt++) {
    if (performance.now() > deadline) throw storeUnavailable(new Error('a transaction does not end'))
    await new Promise((resolve) => setTimeout(resolve, backoffMs(WAIT_BACKOFF, attempt)))
    running = await readWriters(queries, table)
  }
}
