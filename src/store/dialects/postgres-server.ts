import { Socket } from 'node:net'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'

const POOL_SIZE = 10
const KEEP_ALIVE = { idleMs: 10 * SECOND, everyMs: SECOND, probes: 3 }

export interface PostgresServerOptions {
  readonly url: string
  readonly settings: PoolConfig
  readonly logger: Logger
}

/** The sockets of connections to one server, so that they can be destroyed without an answer of the server. */
export class TrackedSockets {
  readonly #sockets = new Set<Socket>()

  /** A new socket, for the option `stream` of a client. */
  readonly create = (): Socket => {
    const socket = new Socket()
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.once('connect', () =>
      socket.setKeepAlive(true, KEEP_ALIVE.idleMs, KEEP_ALIVE.everyMs, KEEP_ALIVE.probes),
    )
    return socket
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** The pool of connections to one server. */
export class PostgresServer {
  readonly url: string
  /** `host:port`, for logs and errors. */
  readonly name: string
  readonly #pool: Pool
  readonly #sockets = new TrackedSockets()
  readonly #retired = Promise.withResolvers<never>()
  #ended: Promise<void> | undefined

  constructor({ url, settings, logger }: PostgresServerOptions) {
    this.url = url
    this.name = serverName(url)
    this.#retired.promise.catch(() => undefined)
    this.#pool = new Pool({
      ...settings,
      connectionString: url,
      max: POOL_SIZE,
      stream: this.#sockets.create,
    })
    // A connection that the server ends is replaced at its next use. Without listeners either event would end the
    // process; the pool itself listens to idle connections only.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) =>
      client.on('error', (error) => logger.warn({ error }, 'a database connection was lost')),
    )
  }

  get waiting(): number {
    return this.#pool.waitingCount
  }

  /** How many connections run a query or a transaction. */
  get busy(): number {
    return this.#pool.totalCount - this.#pool.idleCount
  }

  async connect(): Promise<PoolClient> {
    const connecting = this.#pool.connect()
    try {
      return await Promise.race([connecting, this.#retired.promise])
    } catch (error) {
      connecting.then(
        (client) => client.release(true),
        () => undefined,
      )
      throw error
    }
  }

  /** Opens no more connections: requests that wait for one reject, queries that run end as usual. */
  retire(reason: unknown): void {
    this.#retired.reject(reason)
    void this.close()
  }

  /** Ends every connection at once: the queries that run on them reject. */
  abandon(): void {
    this.retire(new Error(`Connection terminated: ${this.name} is not the database server now`))
    this.#sockets.destroy()
  }

  /** Resolves when every connection is closed; may be called again, also after `retire`. */
  close(): Promise<void> {
    return (this.#ended ??= this.#pool.end())
  }
}

/** `host:port`, for logs and errors. */
export function serverName(url: string): string {
  const { host, searchParams } = new URL(url)
  return host || (searchParams.get('host') ?? 'localhost')
}
