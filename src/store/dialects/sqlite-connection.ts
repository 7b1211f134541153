import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { backoffMs } from '../../kernel/retry.ts'
import type { Queries } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import { storeUnavailable } from '../unavailable.ts'
import type { ReadGate } from './read-gate.ts'
import { isBusy, toStoreError } from './sqlite-errors.ts'

// The program has few texts; the limit is for queries with lists of many lengths.
const STATEMENT_LIMIT = 500
// Some seconds in all.
const LOCK_RETRIES = 100
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }
const NO_ROWS: unknown[] = []

interface StatementResult {
  readonly rows: unknown[]
  readonly changes: number
}

interface Prepared {
  readonly statement: StatementSync
  /** Empty for a statement that returns no rows. */
  readonly columns: readonly string[]
  readonly onlyReads: boolean
}

const READS = /^\s*select\b/i

/** A connection with its prepared statements. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #gate: ReadGate | undefined
  readonly #prepared = new Map<string, Prepared>()
  #changes = 0
  #isRevoked = false

  /** `gate` for a connection of readers; a transaction runs its statements at once. */
  constructor(database: DatabaseSync, gate?: ReadGate) {
    this.#database = database
    this.#gate = gate
  }

  /** A connection to the same database; this one rejects every statement from now on. */
  replace(): SqliteConnection {
    this.#isRevoked = true
    const replacement = new SqliteConnection(this.#database, this.#gate)
    replacement.#changes = this.#changes
    return replacement
  }

  /** Grows with each row that a statement has changed. */
  get changes(): number {
    return this.#changes
  }

  /** Waits for a short lock of another process, as when it recovers or closes, without stopping the event loop. */
  async run(text: string, values: readonly unknown[]): Promise<StatementResult> {
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#gate
          ? await this.#gate.run(() => this.#runNow(text, values))
          : this.#runNow(text, values)
      } catch (error) {
        if (!isBusy(error)) throw toStoreError(error)
        if (attempt >= LOCK_RETRIES) throw storeUnavailable(error)
      }
      await new Promise((resolve) => setTimeout(resolve, backoffMs(LOCK_BACKOFF, attempt)))
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.run(query.sql, query.parameters)
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }

  #runNow(text: string, values: readonly unknown[]): StatementResult {
    if (this.#isRevoked) throw new Error('The transaction has ended.')
    const { statement, columns, onlyReads } = this.#prepare(text)
    if (columns.length > 0) {
      const rows = statement.all(...(values as SQLInputValue[])).map((row) => toRecord(columns, row))
      if (!onlyReads) this.#changes += rows.length
      return { rows, changes: 0 }
    }
    const changes = Number(statement.run(...(values as SQLInputValue[])).changes)
    this.#changes += changes
    return { rows: NO_ROWS, changes }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const entry = { statement, columns, onlyReads: READS.test(text) }
    if (this.#prepared.size < STATEMENT_LIMIT) this.#prepared.set(text, entry)
    return entry
  }
}

/**
 * The engine's own row objects are dictionaries: twice as slow to make as arrays, and several times slower to read than
 * objects with a shape.
 */
function toRecord(columns: readonly string[], row: unknown): Record<string, unknown> {
  const values = row as readonly unknown[]
  const record: Record<string, unknown> = {}
  for (let index = 0; index < columns.length; index++) record[columns[index] as string] = values[index]
  return record
}

export function sqliteQueries(connection: SqliteConnection): Queries {
  const db = new Kysely({ dialect: dialectOn(connection) })
  return {
    db,
    capabilities: CAPABILITIES.sqlite,
    async run(statement, parameters) {
      const { text, values } = statement.bind('sqlite', db, parameters)
      return (await connection.run(text, values)).rows as never[]
    },
    async change(statement, parameters) {
      const { text, values } = statement.bind('sqlite', db, parameters)
      return (await connection.run(text, values)).changes
    },
  }
}

function dialectOn(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driverOn(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** The connection is opened, closed and put into transactions by the store, never by the query builder. */
function driverOn(connection: SqliteConnection): Driver {
  const refuse = async () => {
    throw new Error('Transactions are opened by store.write() only.')
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}
