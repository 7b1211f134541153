import type { Pool, PoolClient, QueryResult } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { ReusableTimeout } from '../timeout.ts'
import { fromPostgresError } from './postgres-errors.ts'

export interface TimeoutPoolOptions {
  readonly pool: Pool
  readonly clock: Clock
}

/**
 * A pool that closes a connection on which no answer comes in time. Nothing else reveals a server that has vanished,
 * or a network that drops packets: TCP itself would wait for a quarter of an hour. After one such loss, the connections
 * that have not answered since are not used again either.
 */
export class TimeoutPool {
  readonly #pool: Pool
  readonly #clock: Clock
  readonly #answeredAt = new WeakMap<PoolClient, number>()
  #lostAt = Number.NEGATIVE_INFINITY

  constructor({ pool, clock }: TimeoutPoolOptions) {
    this.#pool = pool
    this.#clock = clock
  }

  /** A connection on which each query has so much time. The caller releases it. */
  async connect(queryMs: number): Promise<PooledConnection> {
    for (;;) {
      const client = await this.#client()
      if (!this.#isSuspect(client)) return new PooledConnection(client, this.#watched(client, queryMs))
      client.release(true)
    }
  }

  async #client(): Promise<PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw fromPostgresError(error)
    }
  }

  #isSuspect(client: PoolClient): boolean {
    return (this.#answeredAt.get(client) ?? this.#clock.monotonic()) <= this.#lostAt
  }

  #watched(client: PoolClient, queryMs: number): ConnectionWatch {
    return {
      queryMs,
      onAnswer: () => this.#answeredAt.set(client, this.#clock.monotonic()),
      onTimeout: () => (this.#lostAt = this.#clock.monotonic()),
    }
  }
}

interface ConnectionWatch {
  readonly queryMs: number
  onAnswer(): void
  onTimeout(): void
}

export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Under which the connection prepares the statement. */
  readonly name?: string
}

/** One connection, from its acquisition to its release; afterwards it rejects every query. */
export class PooledConnection {
  readonly #client: PoolClient
  readonly #watch: ConnectionWatch
  readonly #timeout: ReusableTimeout
  #closedBy: Error | undefined
  #isReleased = false

  constructor(client: PoolClient, watch: ConnectionWatch) {
    this.#client = client
    this.#watch = watch
    this.#timeout = new ReusableTimeout(watch.queryMs)
  }

  async query<R extends object>({ text, values = [], name }: PostgresQuery): Promise<QueryResult<R>> {
    if (this.#isReleased) throw new Error('The transaction has ended.')
    if (this.#closedBy) throw fromPostgresError(this.#closedBy)
    const config = { text, values: [...values], ...(name !== undefined && { name }) }
    try {
      const result = await this.#timeout.race(this.#client.query<R>(config), () => this.#giveUp())
      this.#watch.onAnswer()
      return result
    } catch (error) {
      throw fromPostgresError(error)
    }
  }

  /** Every later query rejects with that error, and the release closes the connection: the server rolls back. */
  close(error: Error): void {
    this.#closedBy ??= error
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined
  }

  release(): void {
    this.#isReleased = true
    this.#timeout.clear()
    this.#client.release(this.#closedBy)
  }

  #giveUp(): Error {
    this.#watch.onTimeout()
    const error = new Error(`the database did not answer within ${this.#watch.queryMs} ms`)
    this.close(Object.assign(error, { code: 'ETIMEDOUT' }))
    return error
  }
}
