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
import type { Database } from '../statement.ts'
import type { Queries } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
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

  /** From now on the text has another name, under which every connection prepares it anew. */
  renew(text: string): void {
    this.#names.delete(text)
  }
}

export interface PostgresQueriesOptions {
  /** Undefined where the next query may run on another connection of a pooler, which does not know the names. */
  readonly names: StatementNames | undefined
  /** Whether statements that return rows are prepared too: outside of transactions. */
  readonly preparesReads?: boolean
}

/**
 * Statements are prepared under a name: parsing and planning takes the server as long as execution. The plan of one that
 * returns rows fails once another release has changed the type of a column. In a transaction, which such a failure would
 * end, they are not prepared.
 */
export class PostgresQueries implements Queries {
  readonly capabilities = CAPABILITIES.postgres
  readonly run: Queries['run']
  readonly change: Queries['change']
  readonly #source: QuerySource
  #db: Database | undefined

  constructor(source: QuerySource, { names, preparesReads = false }: PostgresQueriesOptions) {
    this.#source = source
    this.run = async (statement, parameters) => {
      const { text, values } = statement.bind('postgres', COMPILER, parameters)
      const name = preparesReads ? names?.of(text) : undefined
      return (await source.query({ text, values, ...(name !== undefined && { name }) })).rows as never[]
    }
    this.change = async (statement, parameters) => {
      const { text, values } = statement.bind('postgres', COMPILER, parameters)
      const name = names?.of(text)
      return (await source.query({ text, values, ...(name !== undefined && { name }) })).rowCount ?? 0
    }
  }

  // Most transactions run prepared statements only, which cost less than a builder.
  get db(): Database {
    return (this.#db ??= new Kysely({ dialect: dialectOn(this.#source) }))
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
