import type { QueryResult } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import type { PooledConnection, PostgresQuery } from './postgres-pool.ts'
import type { QuerySource } from './postgres-queries.ts'

// The queries that wait for each other on one connection. More of them use another connection at the same time.
const QUERIES_AT_ONCE = 8
// How long a connection is shared. After that the pool gives another one, which may be to another server.
const SHARED_FOR_MS = 20

export interface SharedReadsOptions {
  readonly connect: () => Promise<PooledConnection>
  readonly clock: Clock
}

/**
 * Reads outside of transactions. Prepared statements, which are quick, share connections while they overlap, and do not
 * wait for the answers of each other; every other query has a connection of its own.
 */
export class SharedReads implements QuerySource {
  readonly #options: SharedReadsOptions
  #shared: SharedConnection | undefined

  constructor(options: SharedReadsOptions) {
    this.#options = options
  }

  async query<R extends object>(query: PostgresQuery): Promise<QueryResult<R>> {
    return query.name === undefined ? this.#queryAlone(query) : this.#choose().query<R>(query)
  }

  async #queryAlone<R extends object>(query: PostgresQuery): Promise<QueryResult<R>> {
    const connection = await this.#options.connect()
    try {
      return await connection.query<R>(query)
    } finally {
      connection.release()
    }
  }

  #choose(): SharedConnection {
    if (!this.#shared?.isFree) this.#shared = new SharedConnection(this.#options)
    return this.#shared
  }
}

/** A connection of the pool from its first query until none runs on it. */
class SharedConnection {
  readonly #clock: Clock
  readonly #since: number
  readonly #connecting: Promise<PooledConnection>
  #queries = 0
  #hasFailed = false
  #isEnded = false

  constructor({ connect, clock }: SharedReadsOptions) {
    this.#clock = clock
    this.#since = clock.monotonic()
    this.#connecting = connect()
  }

  get isFree(): boolean {
    return (
      !this.#isEnded &&
      !this.#hasFailed &&
      this.#queries < QUERIES_AT_ONCE &&
      this.#clock.monotonic() - this.#since < SHARED_FOR_MS
    )
  }

  async query<R extends object>(query: PostgresQuery): Promise<QueryResult<R>> {
    this.#queries++
    try {
      const connection = await this.#connecting
      return await connection.query<R>(query)
    } catch (error) {
      this.#hasFailed = true
      throw error
    } finally {
      this.#queries--
      if (this.#queries === 0) this.#end()
    }
  }

  #end(): void {
    this.#isEnded = true
    this.#connecting.then(
      (connection) => connection.release(),
      () => undefined,
    )
  }
}
