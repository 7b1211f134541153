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
import { isBusy, toStoreError } from './sqlite-errors.ts'

// Texts are made by our own code, so they are few; the bound is for a query whose lists have many lengths.
const STATEMENTS_KEPT = 500
// Some seconds in all.
const LOCK_RETRIES = 100
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }
const NONE: unknown[] = []

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

/** One connection with its prepared statements. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  #changes: number
  #isRevoked = false

  constructor(database: DatabaseSync, changes = 0) {
    this.#database = database
    this.#changes = changes
  }

  /** One in the place of this one, which whoever still holds it cannot use any more. */
  replace(): SqliteConnection {
    this.#isRevoked = true
    return new SqliteConnection(this.#database, this.#changes)
  }

  /** Grows with each row that a statement has changed. */
  get changes(): number {
    return this.#changes
  }

  /** A lock that another process holds for a moment, as when it recovers or closes, is waited for off the engine. */
  async run(text: string, values: readonly unknown[]): Promise<StatementResult> {
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#runNow(text, values)
      } catch (error) {
        if (!isBusy(error)) throw toStoreError(error)
        if (attempt >= LOCK_RETRIES) throw storeUnavailable(error)
      }
      await new Promise((resolve) => setTimeout(resolve, backoffMs(LOCK_BACKOFF, attempt)))
    }
  }

  /** Changes with each commit of another connection, this process's or another one's. */
  async state(): Promise<number> {
    const { rows } = await this.run('pragma data_version', [])
    return (rows[0] as { data_version: number }).data_version
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
    return { rows: NONE, changes }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const entry = { statement, columns, onlyReads: READS.test(text) }
    if (this.#prepared.size < STATEMENTS_KEPT) this.#prepared.set(text, entry)
    return entry
  }
}

/**
 * The engine's own objects are dictionaries, which take twice as long to make as lists do and several times as long to
 * read; these have a shape.
 */
function toRecord(columns: readonly string[], row: unknown): Record<string, unknown> {
  const values = row as readonly unknown[]
  const record: Record<string, unknown> = {}
  for (let index = 0; index < columns.length; index++) record[columns[index] as string] = values[index]
  return record
}

/** Both ways to query on that connection. */
export function queriesOn(connection: SqliteConnection): Queries {
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
