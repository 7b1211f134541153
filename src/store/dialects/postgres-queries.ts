import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import type { QueryResult as PgResult } from 'pg'
import type { BoundStatement, Database } from '../statement.ts'
import type { Queries } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import { isStalePlan } from './postgres-errors.ts'
import type { QueryConnection } from './postgres-pool.ts'

/** Runs each query on a connection of the pool, or on the one of its transaction. */
export type QuerySource = Pick<QueryConnection, 'query'>

/** Compiles the prepared statements; it has no connection to run them on. */
const COMPILER: Database = new Kysely({
  dialect: { ...compilerDialect(), createDriver: () => new DummyDriver() },
})

/** The names of prepared statements, by their text. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #given = 0

  of(text: string): string {
    return this.#names.getOrInsertComputed(text, () => `platform_${this.#given++}`)
  }

  /**
   * Gives every text another name, under which each connection prepares it anew: what makes one plan stale makes others
   * stale, too. Does nothing if the text has another name than that one already.
   */
  renew(text: string, name: string): void {
    if (this.#names.get(text) === name) this.#names.clear()
  }
}

export interface PostgresQueriesOptions {
  /** Undefined where the next query may run on another connection of a pooler, which does not know the names. */
  readonly names: StatementNames | undefined
  /** Whether the first failure ends all: whoever runs the transaction repeats it. */
  readonly inTransaction: boolean
}

/**
 * Statements are prepared under a name: parsing and planning takes the server as long as execution. The plan of one that
 * returns rows fails once another release has changed the type of a column; under another name it is made anew.
 */
export class PostgresQueries implements Queries {
  readonly capabilities = CAPABILITIES.postgres
  readonly #source: QuerySource
  readonly #options: PostgresQueriesOptions
  #db: Database | undefined

  constructor(source: QuerySource, options: PostgresQueriesOptions) {
    this.#source = source
    this.#options = options
  }

  readonly run: Queries['run'] = async (statement, args) =>
    (await this.#execute(statement.bind('postgres', COMPILER, args))).rows as never[]

  readonly change: Queries['change'] = async (statement, args) =>
    (await this.#execute(statement.bind('postgres', COMPILER, args))).rowCount ?? 0

  // Most transactions run prepared statements only, which cost less than a builder.
  get db(): Database {
    return (this.#db ??= new Kysely({ dialect: dialectOn(this.#source) }))
  }

  async #execute(statement: BoundStatement): Promise<PgResult> {
    const { names, inTransaction } = this.#options
    if (!names) return this.#source.query(statement)
    const name = names.of(statement.text)
    try {
      return await this.#source.query({ ...statement, name })
    } catch (error) {
      if (!isStalePlan(error)) throw error
      names.renew(statement.text, name)
      if (inTransaction) throw error
    }
    return this.#source.query({ ...statement, name: names.of(statement.text) })
  }
}

function dialectOn(source: QuerySource): Dialect {
  return { ...compilerDialect(), createDriver: () => driverOn(source) }
}

function compilerDialect(): Omit<Dialect, 'createDriver'> {
  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** The query builder's view of a source. */
class BuilderConnection implements DatabaseConnection {
  readonly #source: QuerySource

  constructor(source: QuerySource) {
    this.#source = source
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, rowCount } = await this.#source.query({ text, values: parameters })
    return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }
}

/** Connections are put into transactions by the store, never by the query builder. */
function driverOn(source: QuerySource): Driver {
  const refuse = async () => {
    throw new Error('Transactions are opened by store.write() only.')
  }
  return {
    init: async () => {},
    acquireConnection: async () => new BuilderConnection(source),
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}
