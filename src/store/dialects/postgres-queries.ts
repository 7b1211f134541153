import {
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
import type { Queries } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import type { PooledConnection, PostgresQuery } from './postgres-pool.ts'

/** Where a query gets its connection from: the pool, or the transaction that it belongs to. */
export interface ConnectionSource {
  acquire(): Promise<PooledConnection>
  release(connection: PooledConnection): void
}

/** The names of prepared statements, by their text. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  of(text: string): string {
    return this.#names.getOrInsertComputed(text, () => `platform_${this.#names.size}`)
  }
}

/**
 * Statements that change rows and return none are prepared under a name: parsing and planning takes the server as long
 * as execution. Statements that return rows are not: such a plan fails once another release has added a column. Without
 * `names` none is: the next transaction may run on another connection of a pooler, which does not know the name.
 */
export function postgresQueries(source: ConnectionSource, names: StatementNames | undefined): Queries {
  const db = new Kysely({ dialect: dialectOn(source) })
  return {
    db,
    capabilities: CAPABILITIES.postgres,
    async run(statement, parameters) {
      return (await queryOn(source, statement.bind('postgres', db, parameters))).rows as never[]
    },
    async change(statement, parameters) {
      const { text, values } = statement.bind('postgres', db, parameters)
      const name = names?.of(text)
      return (await queryOn(source, { text, values, ...(name !== undefined && { name }) })).rowCount ?? 0
    },
  }
}

async function queryOn(source: ConnectionSource, { text, values = [], name }: PostgresQuery) {
  const connection = await source.acquire()
  try {
    return await connection.query({ text, values, ...(name !== undefined && { name }) })
  } finally {
    source.release(connection)
  }
}

function dialectOn(source: ConnectionSource): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driverOn(source),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/** The query builder's view of a connection. */
class BuilderConnection implements DatabaseConnection {
  readonly connection: PooledConnection

  constructor(connection: PooledConnection) {
    this.connection = connection
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, rowCount } = await this.connection.query({ text, values: parameters })
    return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming would hold the connection; read in pages instead.')
  }
}

/** Connections are put into transactions by the store, never by the query builder. */
function driverOn(source: ConnectionSource): Driver {
  const refuse = async () => {
    throw new Error('Transactions are opened by store.write() only.')
  }
  return {
    init: async () => {},
    acquireConnection: async () => new BuilderConnection(await source.acquire()),
    releaseConnection: async (builder) => source.release((builder as BuilderConnection).connection),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  }
}
