import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type QueryResult,
} from 'kysely'
import type { QueryResult as PgResult } from 'pg'
import type { BoundStatement, Database } from '../statement.ts'
import type { Queries } from '../store.ts'
import { CAPABILITIES } from './capabilities.ts'
import { isStalePlan } from './postgres-errors.ts'
import type { QueryConnection } from './postgres-pool.ts'
import { compilerFor, queryBuilder, type SqlDialect } from './query-builder.ts'

/** Runs each query on a connection of the pool, or on the one of its transaction. */
export type QuerySource = Pick<QueryConnection, 'query'>

const DIALECT: SqlDialect = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}
const COMPILER = compilerFor(DIALECT)

/** The names of prepared statements, by their text. */
export class StatementNames {
  readonly #names = new Map<string, string>()
  #nextNumber = 0

  of(text: string): string {
    return this.#names.getOrInsertComputed(text, () => `platform_${this.#nextNumber++}`)
  }

  /**
   * Gives every text a new name, under which each connection prepares it anew: what makes one plan stale makes others
   * stale, too. Does nothing if the text has a newer name than `name` already.
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
    return (this.#db ??= queryBuilder(DIALECT, (query) => this.#executeBuilt(query)))
  }

  async #executeBuilt({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<unknown>> {
    const { rows, rowCount } = await this.#source.query({ text, values: parameters })
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
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
