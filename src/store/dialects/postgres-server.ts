import { Socket } from 'node:net'
import { Pool, type PoolClient, type PoolConfig, Client, type ClientConfig } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { parsePostgresUrl, type ServerRole } from '../../kernel/addresses.ts'
import type { Secret } from '../../kernel/secret.ts'

const POOL_SIZE = 10
const KEEP_ALIVE = { idleMs: 10 * SECOND, everyMs: SECOND, probes: 3 }

export interface PostgresServerOptions {
  readonly url: string
  readonly settings: PoolConfig
  readonly logger: Logger
}

/** The sockets of connections to one server, so that they can be destroyed without an answer of the server. */
class TrackedSockets {
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

/** What a server answers about itself. */
export interface ServerState {
  readonly writable: boolean
  /** Grows with each promotion, so of two servers that take changes the one with the higher number is the primary. */
  readonly timeline: number
}

// `platform data restore` counts the connections with the name `platform`.
const PROBE_NAME = 'platform-probe'

// The first eight digits of the name of a WAL file are its timeline, in hexadecimal. A standby writes none.
const STATE = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when pg_is_in_recovery() then '' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`

export interface ProbeOptions {
  readonly withinMs: number
  readonly signal: AbortSignal
}

/** Asks a server on a connection of its own. Rejects when it does not answer in time. */
export async function readServerState(
  url: string,
  settings: ClientConfig,
  { withinMs, signal }: ProbeOptions,
): Promise<ServerState> {
  const sockets = new TrackedSockets()
  const stop = () => sockets.destroy()
  signal.addEventListener('abort', stop)
  const own = { connectionTimeoutMillis: withinMs, query_timeout: withinMs, application_name: PROBE_NAME }
  const client = new Client({ ...settings, ...own, connectionString: url, stream: sockets.create })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ writable: boolean; timeline: string }>(STATE)
    return {
      writable: rows[0]?.writable === true,
      timeline: Number.parseInt(rows[0]?.timeline || '0', 16),
    }
  } finally {
    // A server that hangs would not answer the end of the connection either.
    stop()
    signal.removeEventListener('abort', stop)
  }
}

/** What one server of the list in `database.url` is now. */
export interface ServerFacts {
  /** `host:port`. */
  readonly name: string
  /** A former primary takes changes, too, but another server was promoted after it. */
  readonly role: 'primary' | 'former primary' | 'standby' | 'read-only' | 'unreachable'
  /** Why it is unreachable. */
  readonly reason?: string
}

const FACTS_MS = 5 * SECOND

/** Asks each server what it is; nothing for an address with one host. */
export async function readServers(url: Secret): Promise<readonly ServerFacts[]> {
  const { urls = [] } = parsePostgresUrl(url.reveal()) ?? {}
  if (urls.length < 2) return []
  const limit = { withinMs: FACTS_MS, signal: new AbortController().signal }
  const answers = await Promise.allSettled(urls.map((each) => readServerState(each, {}, limit)))
  const states = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const primary = chooseServer(states, 'read-write')
  return answers.map((answer, index) => {
    const name = serverName(urls[index] ?? '')
    if (answer.status === 'fulfilled') return { name, role: roleOf(answer.value, index === primary) }
    return { name, role: 'unreachable', reason: errorMessage(answer.reason) }
  })
}

function roleOf({ writable, timeline }: ServerState, isPrimary: boolean): ServerFacts['role'] {
  if (writable) return isPrimary ? 'primary' : 'former primary'
  return timeline === 0 ? 'standby' : 'read-only'
}

/** The state of each server that has answered, in the order of the configuration. */
export type ServerStates = readonly (ServerState | undefined)[]

/**
 * The index of the server to use, or undefined. Of several that take changes it is the one that was promoted last, and
 * of equal ones `current`, or else the first.
 */
export function chooseServer(states: ServerStates, role: ServerRole, current?: number): number | undefined {
  const isUsable = (state: ServerState | undefined) => state && (role === 'any' || state.writable)
  const usable = states.flatMap((state, index) => (isUsable(state) ? [index] : []))
  const rank = (index: number) => (role === 'any' ? 0 : (states[index]?.timeline ?? 0))
  const highest = Math.max(...usable.map(rank))
  const best = usable.filter((index) => rank(index) === highest)
  return best.find((index) => index === current) ?? best[0]
}
