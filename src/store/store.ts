import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type Compilable } from 'kysely'
import type { Capabilities } from './dialects/capabilities.ts'
import type { SnapshotSteps } from '../ports/database-files.ts'
import type { Database, Statement } from './statement.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Metrics } from '../kernel/metrics.ts'

/** Runs queries: outside of transactions, or in one. */
export interface Queries {
  /** The query builder, for queries whose shape depends on a filter. */
  readonly db: Database
  readonly capabilities: Capabilities
  /** Runs a prepared statement and answers its rows. */
  run<A extends readonly unknown[], R>(statement: Statement<A, R>, args: A): Promise<R[]>
  /** Runs a prepared statement that returns no rows and answers how many rows it has changed. */
  change<A extends readonly unknown[]>(statement: Statement<A, never>, args: A): Promise<number>
}

/** What a read of prepared statements needs. */
export type Reads = Pick<Queries, 'run'>

/** What a change by prepared statements needs. */
export type RowChanges = Pick<Queries, 'change'>

/** An open transaction. Valid until its callback has settled. */
export interface Tx extends Queries {
  /** Calls the listener once after the commit is durable, never after a rollback. What it throws is logged. */
  afterCommit(listener: () => void): void
  /** Counts computation as so many rows: after much of it the transaction goes on in a later turn of the event loop. */
  spend(rows: number): Promise<void> | undefined
}

/** The callback of one transaction. It may run more than once, so it changes nothing but the database. */
export type TransactionCallback<T> = (tx: Tx) => Promise<T>

/** A row that a write locks, or that must not change between its statements. There may be no such row yet. */
export interface TouchedRow {
  readonly table: string
  /** The texts by which the statements find it. */
  readonly key: readonly string[]
}

export type WriteOptions = AloneOptions | SharedOptions

interface AloneOptions {
  /** For changes of the schema: without the time limit for transactions. */
  readonly longRunning?: boolean
  readonly touches?: undefined
}

interface SharedOptions {
  readonly longRunning?: false
  /**
   * Lets the write share a transaction with others on an engine with concurrent writers, whose locks do not hold between
   * them. These are the rows that it locks, or that must not change between its statements; of two writes that touch the
   * same row, one runs after the other. Other changes must be single statements that hold whatever others do: an insertion,
   * or compare-and-set. A write that says nothing has its transaction for itself.
   */
  readonly touches: readonly TouchedRow[]
}

/**
 * The database.
 *
 * `write` runs its callback in one transaction and resolves when the commit is durable: on disk (SQLite), or
 * confirmed by the server (PostgreSQL). A transaction that met a lock, lost a serialization or shared its commit with
 * one that failed is repeated as a whole, so the callback **may run more than once**. It must await nothing but its
 * own transaction: on SQLite every other write waits for it. After a rollback `write` rejects with the error of the
 * callback, or with `store_unavailable` when the database cannot take the write now or the transaction took too long
 * ({@link StoreLimits}).
 */
export interface Store {
  readonly capabilities: Capabilities
  /** Sees committed data only. */
  readonly read: Queries
  write<T>(work: TransactionCallback<T>, options?: WriteOptions): Promise<T>
  /** A long read (counts, exports): off the event loop, on a connection of its own. */
  readAside<R>(query: Compilable<R>): Promise<R[]>
  /**
   * Writes a consistent copy of the database to that path, while reads and writes go on: a SQLite file, or an archive for
   * `pg_restore`. The file appears when it is complete and on the disk; it replaces an existing one.
   */
  snapshot(path: string, options?: SnapshotSteps): Promise<void>
  /**
   * Rejects with `store_unavailable` when the database does not answer in time, or has refused a write and still
   * refuses writes.
   */
  check(): Promise<void>
  /** Waits for the pending writes, then closes; may be called twice. */
  close(): Promise<void>
}

/** What most of the services of a domain need of the rest of the platform. */
export interface ServiceDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Long reads of prepared statements; see {@link Store.readAside}. */
export function readsAside({ capabilities, read, readAside }: Store): Reads {
  return {
    run(statement, args) {
      const { text, values } = statement.bind(capabilities.dialect, read.db, args)
      return readAside({ compile: () => CompiledQuery.raw(text, [...values]) as never })
    },
  }
}

// After work on this many rows, some milliseconds, a transaction continues in the next turn of the event loop. ReadGate allows
// more rows, because a change costs more than a read.
const TURN_LIMIT = 250

/** Counts the work of one transaction in this turn of the event loop. */
export class TurnCost {
  #cost = 0

  /** Counts work; when it is enough for this turn, returns a promise that resolves in the next one. */
  spend(rows: number): Promise<void> | undefined {
    this.#cost += rows
    if (this.#cost < TURN_LIMIT) return undefined
    this.#cost = 0
    return nextTurn()
  }
}

/** Runs a long computation in the turns of a transaction. Each step yields how much it has done, in rows. */
export async function inTurns<T>(tx: Pick<Tx, 'spend'>, steps: Generator<number, T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await tx.spend(step.value)
  }
}

/** Calls the listeners of a commit. One that throws is logged: the commit stands, and the others are called. */
export function callListeners(listeners: readonly (() => void)[], logger: Logger): void {
  for (const listener of listeners) {
    try {
      listener()
    } catch (error) {
      logger.error({ error }, 'a listener of a committed transaction has failed')
    }
  }
}
