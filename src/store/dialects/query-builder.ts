import {
  DummyDriver,
  Kysely,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import type { Database } from '../statement.ts'

/** How the query builder writes the SQL of an engine. */
export type SqlDialect = Omit<Dialect, 'createDriver'>

/** A query builder for prepared statements: it compiles queries, and has no connection to run them on. */
export function compilerFor(dialect: SqlDialect): Database {
  return new Kysely({ dialect: { ...dialect, createDriver: () => new DummyDriver() } })
}

/** A query builder that runs its queries by `execute`. */
export function queryBuilder(
  dialect: SqlDialect,
  execute: (query: CompiledQuery) => Promise<QueryResult<unknown>>,
): Database {
  return new Kysely({ dialect: { ...dialect, createDriver: () => driverOf(execute) } })
}

/** The store opens, closes and puts connections into transactions, never the query builder. */
function driverOf(execute: (query: CompiledQuery) => Promise<QueryResult<unknown>>): Driver {
  const connection: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) => execute(query) as Promise<QueryResult<R>>,
    streamQuery() {
      throw new Error('Streaming would hold the connection; read in pages instead.')
    },
  }
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
