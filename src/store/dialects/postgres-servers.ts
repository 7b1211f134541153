import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError, type ClientConfig, type PoolConfig } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { PostgresUrl } from '../../kernel/postgres-url.ts'
import { backoffMs } from '../../kernel/retry.ts'
import { SECOND } from '../../kernel/time.ts'
import { storeUnavailable } from '../unavailable.ts'
import { explainPooler } from './postgres-errors.ts'
import { chooseServer, readServerState, type ServerStates } from './postgres-probe.ts'
import { PostgresServer, serverName } from './postgres-server.ts'

const SEARCH_BACKOFF = { initialMs: 100, maximumMs: 2 * SECOND }
// One server has as long as a connection to it; of several, one that hangs must not delay the others.
const PROBE_MS = { one: 5 * SECOND, several: 2 * SECOND }
// How long the other servers have after the first that can be used.
const GRACE_MS = 250
const WATCH_EVERY_MS = SECOND
// A wait for a lock may be as long, but then the check costs one query a second.
const SILENCE_MS = SECOND

const INSUFFICIENT_RESOURCES = '53'
const POOL_IS_BUSY = /timeout exceeded when trying to connect/

export interface PostgresServersOptions {
  readonly address: PostgresUrl
  readonly settings: PoolConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/**
 * The configured servers, of which one is used at a time. When no connection to it can be opened, one search at a time
 * asks all of them, with growing pauses, and meanwhile requests fail at once: they do not all try to connect. With
 * several servers, a search also follows when the server refuses changes or when its answers fail to come.
 */
export class PostgresServers {
  readonly #options: PostgresServersOptions
  readonly #closing = new AbortController()
  readonly #changes: Counter
  readonly #watch: NodeJS.Timeout | undefined
  /** Undefined while no server can be used. */
  #current: PostgresServer | undefined
  /** The index of the current server, or the last one. */
  #index: number | undefined
  /** Why there is no current server. */
  #failure: Error | undefined
  #asking: Promise<void> | undefined
  #searching: Promise<void> | undefined
  #answeredAt: number

  constructor(options: PostgresServersOptions) {
    const { address, clock, metrics } = options
    this.#options = options
    this.#answeredAt = clock.monotonic()
    this.#changes = metrics.counter({
      name: 'store_server_changes_total',
      help: 'Changes to another server of the list in database.url.',
    })
    this.#changes.increment({}, 0)
    if (this.#isOnlyOne && address.role === 'any') this.#open(0)
    if (!this.#isOnlyOne) this.#watch = setInterval(() => this.#checkSilence(), WATCH_EVERY_MS).unref()
  }

  /** The server to use now. While servers are asked, waits for their answers. Rejects with `store_unavailable`. */
  async use(): Promise<PostgresServer> {
    if (this.#current) return this.#current
    this.#search()
    await this.#asking?.catch(() => undefined)
    if (this.#current) return this.#current
    throw storeUnavailable(this.#failure)
  }

  /** The URL of the server that is used. */
  async url(): Promise<string> {
    return (await this.use()).url
  }

  get waiting(): number {
    return this.#current?.waiting ?? 0
  }

  onAnswer(): void {
    this.#answeredAt = this.#options.clock.monotonic()
  }

  /** No connection to the server could be opened. */
  onFailure(server: PostgresServer, error: unknown): void {
    const isClosing = this.#closing.signal.aborted
    if (isClosing || server !== this.#current || !isFailureOfServer(error)) return
    this.#failure = toError(error)
    this.#current = undefined
    server.retire(error)
    this.#search()
  }

  /** Looks for a better server, without giving up the one that is used. */
  recheck(): void {
    if (this.#isOnlyOne || this.#closing.signal.aborted) return
    this.#ask().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#watch)
    await this.#searching
    await this.#current?.close()
  }

  get #isOnlyOne(): boolean {
    return this.#options.address.urls.length === 1
  }

  #checkSilence(): void {
    const { clock } = this.#options
    const isSilent = clock.monotonic() - this.#answeredAt > SILENCE_MS
    if (isSilent && (this.#current?.busy ?? 0) > 0) this.recheck()
  }

  #search(): void {
    this.#searching ??= this.#searchUntilFound().finally(() => (this.#searching = undefined))
  }

  async #searchUntilFound(): Promise<void> {
    const { signal } = this.#closing
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        return await this.#ask()
      } catch (error) {
        this.#failure = toError(error)
      }
      await pause(backoffMs(SEARCH_BACKOFF, attempt), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
    }
  }

  /** One question at a time, however many ask for it. */
  #ask(): Promise<void> {
    this.#asking ??= this.#chooseByAnswers().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** Uses the best of the servers that answer; rejects if there is none. */
  async #chooseByAnswers(): Promise<void> {
    const { address, settings } = this.#options
    const { states, errors } = await readStates(address, settings, this.#closing.signal)
    if (this.#closing.signal.aborted) return
    const chosen = chooseServer(states, address.role, this.#index)
    if (chosen === undefined) throw noServer(address, states, errors)
    if (chosen !== this.#index || !this.#current) this.#change(chosen)
  }

  #change(index: number): void {
    const [former, from] = [this.#current, this.#index]
    const { name: to } = this.#open(index)
    former?.abandon()
    if (from === undefined || from === index) return
    this.#changes.increment()
    this.#options.logger.warn(
      { from: serverName(this.#options.address.urls[from] ?? ''), to },
      'another database server is used now',
    )
  }

  #open(index: number): PostgresServer {
    const { address, settings, logger } = this.#options
    this.#index = index
    this.#current = new PostgresServer({ url: address.urls[index] ?? '', settings, logger })
    return this.#current
  }
}

interface Round {
  readonly states: ServerStates
  readonly errors: readonly unknown[]
}

/** Asks all servers at once. */
async function readStates(
  { urls, role }: PostgresUrl,
  settings: ClientConfig,
  signal: AbortSignal,
): Promise<Round> {
  const withinMs = urls.length === 1 ? PROBE_MS.one : PROBE_MS.several
  const round: { states: ServerStates[number][]; errors: unknown[] } = {
    states: urls.map(() => undefined),
    errors: [],
  }
  const usable = Promise.withResolvers<void>()
  const answers = urls.map(async (url, index) => {
    try {
      round.states[index] = await readServerState(url, settings, { withinMs, signal })
      if (chooseServer(round.states, role) !== undefined) usable.resolve()
    } catch (error) {
      round.errors[index] = error
    }
  })
  const grace = usable.promise.then(() => pause(GRACE_MS, undefined, { ref: false }))
  await Promise.race([Promise.all(answers), grace])
  return { states: [...round.states], errors: [...round.errors] }
}

function noServer({ urls }: PostgresUrl, states: ServerStates, errors: readonly unknown[]): Error {
  if (urls.length === 1 && errors[0] !== undefined) return toError(errors[0])
  const reasons = urls.map((url, index) => {
    const reason = states[index] ? 'it takes no changes' : errorMessage(errors[index])
    return `${serverName(url)}: ${reason}`
  })
  return new Error(`no server takes changes (${reasons.join('; ')})`)
}

/** Not when every connection of the pool is busy, or the server has as many connections as it allows. */
function isFailureOfServer(error: unknown): boolean {
  if (error instanceof DatabaseError) return !error.code?.startsWith(INSUFFICIENT_RESOURCES)
  return !POOL_IS_BUSY.test(errorMessage(error))
}

function toError(error: unknown): Error {
  const explained = explainPooler(error)
  return explained instanceof Error ? explained : new Error(String(explained))
}
