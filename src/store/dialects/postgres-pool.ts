import type { PoolClient, QueryResult } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { ReusableTimeout, storeUnavailable } from '../unavailable.ts'
import { endsConnection, fromPostgresError, raisesDoubt } from './postgres-errors.ts'
import type { PostgresServer } from './postgres-server.ts'
import type { PostgresServers } from './postgres-servers.ts'

// Warnings of a commit: "canceling the wait for synchronous replication", by a cancelled query or a stop of the server.
const CANCELLED_WAITS = new Set(['01000', '57P01'])

export interface TimeoutPoolOptions {
  readonly servers: PostgresServers
  readonly clock: Clock
}

/**
 * A pool that closes a connection on which no answer comes in time. Nothing else reveals a server that has vanished,
 * or a network that drops packets: TCP itself would wait for a quarter of an hour. After one such loss, the connections
 * that have not answered since are not used again either.
 */
export class TimeoutPool {
  readonly #servers: PostgresServers
  readonly #clock: Clock
  readonly #answeredAt = new WeakMap<PoolClient, number>()
  #lostAt = Number.NEGATIVE_INFINITY

  constructor({ servers, clock }: TimeoutPoolOptions) {
    this.#servers = servers
    this.#clock = clock
  }

  /** A connection on which each query has so much time. The caller releases it. */
  async connect(queryMs: number): Promise<PooledConnection> {
    for (;;) {
      const server = await this.#servers.use()
      const client = await this.#client(server)
      if (!this.#isSuspect(client)) return new PooledConnection(client, this.#watch(server, client, queryMs))
      client.release(true)
    }
  }

  async #client(server: PostgresServer): Promise<PoolClient> {
    try {
      return await server.connect()
    } catch (error) {
      this.#servers.onFailure(server, error)
      throw fromPostgresError(error)
    }
  }

  #isSuspect(client: PoolClient): boolean {
    return (this.#answeredAt.get(client) ?? this.#clock.monotonic()) <= this.#lostAt
  }

  #watch(server: PostgresServer, client: PoolClient, queryMs: number): ConnectionWatch {
    return {
      queryMs,
      onAnswer: () => {
        this.#answeredAt.set(client, this.#clock.monotonic())
        this.#servers.onAnswer()
      },
      onTimeout: () => (this.#lostAt = this.#clock.monotonic()),
      onDoubt: (error) => this.#servers.onDoubt(server, error),
    }
  }
}

interface ConnectionWatch {
  readonly queryMs: number
  onAnswer(): void
  onTimeout(): void
  /** The server has refused a query because of what it is now: a standby, or one that stops. */
  onDoubt(error: unknown): void
}

export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Under which the connection prepares the statement. */
  readonly name?: string
}

/** Runs queries one after the other, in the order of the calls. */
export interface QueryConnection {
  query<R extends object>(query: PostgresQuery): Promise<QueryResult<R>>
  /** Every later query rejects with that error, and the transaction is rolled back. */
  close(error: Error): void
}

/**
 * One connection, from its acquisition to its release; afterwards it rejects every query. A query does not wait for the
 * answers to those before it, except through PgBouncer.
 */
export class PooledConnection implements QueryConnection {
  readonly #client: PoolClient
  readonly #watch: ConnectionWatch
  readonly #timeout: ReusableTimeout
  #closedBy: Error | undefined
  #isReleased = false
  #isSilent = false
  #isCorked = false

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
      this.#cork()
      const result = await this.#timeout.race(this.#client.query<R>(config), () => this.#giveUp())
      this.#watch.onAnswer()
      return result
    } catch (error) {
      if (raisesDoubt(error)) this.#watch.onDoubt(error)
      if (endsConnection(error)) this.close(error)
      throw fromPostgresError(error)
    }
  }

  /**
   * Commits the transaction. Rejects when an operator has cancelled the wait for the standby: the server has committed then,
   * but a failover would lose the change.
   */
  async commit(): Promise<QueryResult> {
    let cancelled: Error | undefined
    const onNotice = ({
      code = '',
      message,
    }: {
      readonly code?: string | undefined
      readonly message?: unknown
    }) => {
      if (CANCELLED_WAITS.has(code)) cancelled = new Error(String(message))
    }
    this.#client.on('notice', onNotice)
    const result = await this.query({ text: 'commit' }).finally(() => this.#client.off('notice', onNotice))
    if (cancelled) throw storeUnavailable(cancelled)
    return result
  }

  /** Every later query rejects with that error, and the release closes the connection: the server rolls back. */
  close(error: Error): void {
    this.#closedBy ??= error
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined
  }

  release(): void {
    const isAnswered = this.#timeout.waiting === 0 && !this.#isSilent
    this.#isReleased = true
    this.#timeout.clear()
    this.#client.release(this.#closedBy)
    // The driver would wait for the answers before it closes the connection.
    if (this.#closedBy && !isAnswered) this.#client.connection.stream.destroy()
  }

  /** The queries of one turn leave in one packet. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  #giveUp(): Error {
    this.#isSilent = true
    this.#watch.onTimeout()
    const error = new Error(`the database did not answer within ${this.#watch.queryMs} ms`)
    this.close(Object.assign(error, { code: 'ETIMEDOUT' }))
    return error
  }
}
