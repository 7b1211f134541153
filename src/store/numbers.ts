import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { backoffMs } from '../kernel/waiting.ts'
import { SECOND } from '../kernel/time.ts'
import type { Queries, Tx } from './store.ts'
import { storeUnavailable } from './unavailable.ts'

/** All numbers up to `through` were assigned before the list of `writers` was read. */
interface Fence {
  readonly through: number
  readonly writers: Transactions
}

const READ_LIMIT = 1_000

/**
 * Finds the `seq` up to which the rows of a table are settled: each number has a visible row, or will never have one. A
 * reader that reads only settled rows misses no row.
 *
 * With one writer, all visible rows are settled. Concurrent writers get their numbers before the commit, so a row may
 * become visible after a row with a higher number. Rows without a gap before them are settled. At a gap, this class lists
 * the transactions that hold the table's lock for writing: a transaction holds it from before it gets a number until its
 * rows are visible. When all of them have ended, the missing numbers will never have rows.
 */
export class SettledNumbers {
  readonly #queries: Queries
  readonly #table: string
  #through: number | undefined
  #fence: Fence | undefined

  constructor(queries: Queries, table: string) {
    this.#queries = queries
    this.#table = table
  }

  /** Waits until every row is settled that is visible now; returns the number of the newest of them, 0 without rows. */
  async settle(): Promise<number> {
    const newest = await this.#newest()
    await waitForWriters(this.#queries, this.#table)
    this.#raise(newest)
    return newest
  }

  /** The number up to which all rows are settled; does not wait, except in the first call. */
  async through(): Promise<number> {
    if (this.#through === undefined) return this.settle()
    if (!this.#queries.capabilities.concurrentWriters) return this.#raise(await this.#newest())
    const numbers = await this.#numbersAfter(this.#through)
    const through = this.#raise(endOfRun(this.#through, numbers))
    const newest = numbers.at(-1) ?? through
    return newest > through ? this.#passGap(newest) : through
  }

  async #passGap(newest: number): Promise<number> {
    // Must be read after the rows: then a number below `newest` belongs to one of these, or to an ended transaction.
    const writers = await readWriters(this.#queries, this.#table)
    const fence = this.#fence ?? { through: newest, writers }
    const isPassed = fence.writers.isDisjointFrom(writers)
    this.#fence = isPassed ? undefined : fence
    return this.#raise(isPassed ? fence.through : 0)
  }

  /** Calls may overlap; the highest result counts. */
  #raise(through: number): number {
    this.#through = Math.max(this.#through ?? 0, through)
    return this.#through
  }

  async #newest(): Promise<number> {
    const { rows } = await sql<{ seq: number }>`
      select seq from ${sql.table(this.#table)} order by seq desc limit 1`.execute(this.#queries.db)
    return rows[0]?.seq ?? 0
  }

  async #numbersAfter(after: number): Promise<number[]> {
    const { rows } = await sql<{ seq: number }>`
      select seq from ${sql.table(this.#table)} where seq > ${after} order by seq limit ${sql.lit(READ_LIMIT)}
    `.execute(this.#queries.db)
    return rows.map(({ seq }) => seq)
  }
}

/** The last number of the sequence without gaps that begins after `after`. */
function endOfRun(after: number, numbers: readonly number[]): number {
  const gap = numbers.findIndex((number, index) => number !== after + index + 1)
  return after + (gap === -1 ? numbers.length : gap)
}

/** Transactions, by the identifiers of the engine. */
type Transactions = ReadonlySet<string>

const WAIT_BACKOFF = { initialMs: 2, maximumMs: 50 }
// Longer than the platform lets a transaction take; another program may hold one open.
const WAIT_LIMIT_MS = 15 * SECOND

/**
 * The open transactions that have written to the table, or are about to write to it: they hold its lock for writing until
 * their changes are visible. Only for an engine with concurrent writers.
 */
async function readWriters({ db }: Queries, table: string): Promise<Transactions> {
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
    await pause(backoffMs(WAIT_BACKOFF, attempt))
    running = await readWriters(queries, table)
  }
}

// For a clock that is behind the numbers of the snapshot. A database gives out fewer numbers than this between a snapshot
// and its restoration, and 2^53 has room for thousands of such gaps.
const GAP = 100_000_000_000

/**
 * The number after which a restored table continues: `perMs` for each millisecond since 1970. A table that counts from 1,
 * or from such a number on, gives out fewer than `perMs` in a millisecond. So each number that was ever given out, in the
 * replaced database or in one before it, is lower. `newest`: the highest number in the snapshot.
 */
export function numberAfterRestore(newest: number, perMs: number, now: number): number {
  const number = now * perMs
  return number > newest ? number : newest + GAP
}

/** Continues the numbers of a `numberedAbove` table after this one. `insert` adds a row that has the number. */
export async function continueAfter(
  tx: Tx,
  table: string,
  number: number,
  insert: () => Promise<void>,
): Promise<void> {
  const { continueAfter: command } = tx.capabilities
  if (command) await command(table, number).execute(tx.db)
  else await insert()
}
