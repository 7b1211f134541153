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
import type { Tables } from '../tables.ts'
import { CAPABILITIES } from './capabilities.ts'
import { isBusy, storeUnavailable, translated } from './sqlite-errors.ts'

// Texts are made by our own code, so they are few; the bound is for a query whose lists have many lengths.
const STATEMENTS_KEPT = 500
// Some seconds in all.
const LOCK_RETRIES = 100
const LOCK_BACKOFF = { initialMs: 1, maximumMs: 50 }

interface StatementResult {
  readonly rows: unknown[]
  readonly changes: bigint
}

/** One connection with its prepared statements. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** A lock that another process holds for a moment, as when it recovers or closes, is waited for off the engine. */
  async run(text: string, values: readonly unknown[]): Promise<StatementResult> {
    for (let attempt = 0; ; attempt++) {
      try {
        return this.#runNow(text, values)
      } catch (error) {
        if (!isBusy(error)) throw translated(error)
        if (attempt >= LOCK_RETRIES) throw storeUnavailable(error)
      }
      await new Promise((resolve) => setTimeout(resolve, backoffMs(LOCK_BACKOFF, attempt)))
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes } = await this.run(query.sql, query.parameters)
    return { rows: rows as R[], numAffectedRows: changes }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }

  #runNow(text: string, values: readonly unknown[]): StatementResult {
    const { statement, returnsRows } = this.#prepare(text)
    if (returnsRows) return { rows: statement.all(...(values as SQLInputValue[])), changes: 0n }
    return { rows: [], changes: BigInt(statement.run(...(values as SQLInputValue[])).changes) }
  }

  #prepare(text: string) {
    const known = this.#prepared.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    const entry = { statement, returnsRows: statement.columns().length > 0 }
    if (this.#prepared.size < STATEMENTS_KEPT) this.#prepared.set(text, entry)
    return entry
  }
}

/** Both ways to query on that connection. */
export function queriesOn(connection: SqliteConnection): Queries {
  const db = new Kysely<Tables>({ dialect: dialectOn(connection) })
  return {
    db,
    capabilities: CAPABILITIES.sqlite,
    async run(statement, parameters) {
      const { text, values } = statement.bind('sqlite', db, parameters)
      return (await connection.run(text, values)).rows as never[]
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
