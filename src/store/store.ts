import type { Compilable } from 'kysely'
import type { Capabilities } from './dialects/capabilities.ts'
import type { Database, Statement } from './statement.ts'

/** What a query can be run on: the read handle, or a transaction. */
export interface Queries {
  /** The query builder, for queries whose shape depends on the request; a domain types it by its schema. */
  readonly db: Database
  readonly capabilities: Capabilities
  /** Runs a prepared statement; the rows it returns, or none for a statement that returns nothing. */
  run<P, R>(statement: Statement<P, R>, parameters: P): Promise<R[]>
  /** Runs a prepared statement that returns nothing; how many rows it has changed. */
  change<P>(statement: Statement<P, never>, parameters: P): Promise<number>
}

/** What is read outside of transactions. */
export interface Reads extends Queries {
  /**
   * A number that stays the same until somebody, also in another process, has committed something; what is read after
   * it was asked for is at least as new. Undefined where the engine has no cheap answer (PostgreSQL).
   */
  state(): Promise<number | undefined>
}

/** An open transaction. Valid only until the callback it was handed to has settled. */
export interface Tx extends Queries {
  /** Called once after the commit is durable, never after a rollback. Must not throw. */
  afterCommit(listener: () => void): void
}

/** What one transaction does. It may run more than once, so it changes nothing but the database. */
export type Work<T> = (tx: Tx) => Promise<T>

export interface WriteOptions {
  /** `false` for a transaction that is repeated only when there is no other way, because it then fails. */
  readonly repeatable?: boolean
  /** For changes of the schema: the transaction, and each of its queries, may take as long as they need. */
  readonly unhurried?: boolean
}

/**
 * The database.
 *
 * `write` runs its callback in one transaction and resolves when the commit is durable: on disk (SQLite), or
 * confirmed by the server (PostgreSQL). A transaction that met a lock, lost a serialization or shared its commit with
 * one that failed is repeated as a whole, so the callback **may run more than once**; it must await nothing but its
 * own transaction, for on SQLite every other write waits for it. It rejects with what the callback threw, after a rollback, or with
 * `store_unavailable` when the database cannot take the write now or the callback has not settled within some seconds.
 */
export interface Store {
  readonly capabilities: Capabilities
  /** Sees what was committed, and nothing of a transaction that is under way. */
  readonly read: Reads
  write<T>(work: Work<T>, options?: WriteOptions): Promise<T>
  /** A read that takes long by nature (counts, exports): beside the event loop, on a connection of its own. */
  readAside<R>(query: Compilable<R>): Promise<R[]>
  /**
   * Rejects with `store_unavailable` when the database does not answer soon, or has refused a write and would refuse
   * the next one too.
   */
  check(): Promise<void>
  /** Lets the writes under way finish, then closes; may be called twice. */
  close(): Promise<void>
}

/** The first row of a statement that has at most one. */
export async function first<P, R>(
  queries: Queries,
  statement: Statement<P, R>,
  parameters: P,
): Promise<R | undefined> {
  return (await queries.run(statement, parameters))[0]
}
