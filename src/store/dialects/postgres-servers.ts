import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseError, type PoolConfig } from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { PostgresUrl } from '../../kernel/addresses.ts'
import { SECOND } from '../../kernel/time.ts'
import { storeUnavailable } from '../unavailable.ts'
import { explainPooler, isReadOnlyRefusal } from './postgres-errors.ts'
import {
  chooseServer,
  readServerState,
  type ServerState,
  PostgresServer,
  serverName,
} from './postgres-server.ts'

// One round asks each server once, and follows another one after so long at the earliest: a promotion is found within a second,
// and however many requests fail, no server gets more than one connection a second from the search of a process.
const ROUND_EVERY_MS = SECOND
// One server has as long as a connection to it; of several, one that hangs must not delay the others: it answers in a later
// round, or not at all.
const LIMITS = {
  one: { answerMs: 5 * SECOND, roundMs: 5 * SECOND },
  several: { answerMs: 2 * SECOND, roundMs: SECOND },
}
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
 * asks all of them, once a second, and meanwhile requests fail at once: they do not all try to connect. They are also asked
 * when the server refuses changes or shuts down, and, if there are several, when its answers fail to come.
 */
export class PostgresServers {
  readonly #options: PostgresServersOptions
  readonly #closing = new AbortController()
  readonly #changes: Counter
  readonly #watch: NodeJS.Timeout
  readonly #probes: Probes
  /** Undefined while no server can be used. */
  #current: PostgresServer | undefined
  /** The index of the current server, or the last one. */
  #index: number | undefined
  /** Why there is no current server. */
  #failure: Error | undefined
  #asking: Promise<void> | undefined
  #searching: Promise<void> | undefined
  #answeredAt: number
  #askedAt = Number.NEGATIVE_INFINITY
  /** Whether another server may be the better one. */
  #isDoubted = false
  /** Whether a connection to the current server has refused a change. */
  #isReadOnly = false

  constructor(options: PostgresServersOptions) {
    const { address, clock, metrics } = options
    this.#options = options
    this.#answeredAt = clock.monotonic()
    this.#changes = metrics.counter({
      name: 'store_server_changes_total',
      help: 'Changes to another server of the list in database.url.',
    })
    this.#probes = new Probes(options, this.#closing.signal)
    if (this.#isOnlyOne && address.role === 'any') this.#open(0)
    this.#watch = setInterval(() => this.#check(), WATCH_EVERY_MS).unref()
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

  /** A query was answered with an error after which another server may be the better one. */
  onDoubt(server: PostgresServer, error: unknown): void {
    if (server !== this.#current) return
    this.#isReadOnly ||= isReadOnlyRefusal(error)
    // With one address there is something to find only if its name leads to another server now.
    this.#isDoubted ||= this.#isReadOnly || !this.#isOnlyOne
    this.#recheck()
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

  #check(): void {
    const isSilent = this.#options.clock.monotonic() - this.#answeredAt > SILENCE_MS
    if (isSilent && !this.#isOnlyOne && (this.#current?.busy ?? 0) > 0) this.#isDoubted = true
    this.#recheck()
  }

  /** Looks for a better server, without giving up the one that is used. */
  #recheck(): void {
    if (!this.#isDoubted || !this.#current || this.#untilDueMs() > 0) return
    this.#ask().catch(() => undefined)
  }

  #search(): void {
    this.#searching ??= this.#searchUntilFound().finally(() => (this.#searching = undefined))
  }

  async #searchUntilFound(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const pauseMs = this.#untilDueMs()
      if (pauseMs > 0) await pause(pauseMs, undefined, { signal, ref: false }).catch(() => undefined)
      try {
        return await this.#ask()
      } catch (error) {
        this.#failure = toError(error)
      }
    }
  }

  #untilDueMs(): number {
    return this.#askedAt + ROUND_EVERY_MS - this.#options.clock.monotonic()
  }

  /** One round at a time, however many ask for it. */
  #ask(): Promise<void> {
    this.#asking ??= this.#chooseByAnswers().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** Uses the best of the servers that answer; rejects if there is none. */
  async #chooseByAnswers(): Promise<void> {
    const { address, clock } = this.#options
    this.#askedAt = clock.monotonic()
    this.#isDoubted = false
    const answers = await this.#probes.round()
    if (this.#closing.signal.aborted) return
    const chosen = chooseServer(statesOf(answers), address.role, this.#index)
    if (chosen === undefined) throw noServer(address, answers)
    if (chosen !== this.#index || !this.#current) this.#change(chosen)
    else if (this.#isReadOnly && answers[chosen]?.state?.writable) this.#renew(chosen)
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

  /** A new connection takes changes and an old one does not: the name of the server leads to another one now. */
  #renew(index: number): void {
    const former = this.#current
    const { name } = this.#open(index)
    former?.retire(new Error(`Connection terminated: ${name} has become another server`))
    this.#options.logger.warn({ server: name }, 'the database server is connected to anew')
  }

  #open(index: number): PostgresServer {
    const { address, settings, logger } = this.#options
    this.#index = index
    this.#isReadOnly = false
    this.#current = new PostgresServer({ url: address.urls[index] ?? '', settings, logger })
    return this.#current
  }
}

/** What a server has answered, or why it has not. */
interface Answer {
  readonly state?: ServerState
  readonly error?: unknown
}

/** Asks all servers at once, each on one connection at a time. */
class Probes {
  readonly #options: PostgresServersOptions
  readonly #signal: AbortSignal
  readonly #limits: { readonly answerMs: number; readonly roundMs: number }
  readonly #answers: Answer[] = []
  readonly #pending = new Map<number, Promise<void>>()

  constructor(options: PostgresServersOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#limits = options.address.urls.length === 1 ? LIMITS.one : LIMITS.several
  }

  /** Resolves soon after an answer that is good enough, else after all of them or at the end of the round. */
  async round(): Promise<readonly Answer[]> {
    const { urls, role } = this.#options.address
    const usable = Promise.withResolvers<void>()
    const onAnswer = () => {
      if (chooseServer(statesOf(this.#answers), role) !== undefined) usable.resolve()
    }
    for (const [index, url] of urls.entries()) this.#ask(index, url)
    const all = Promise.all([...this.#pending.values()].map((answer) => answer.then(onAnswer)))
    const grace = usable.promise.then(() => pause(GRACE_MS, undefined, { ref: false }))
    await Promise.race([all, grace, pause(this.#limits.roundMs, undefined, { ref: false })])
    return [...this.#answers]
  }

  #ask(index: number, url: string): void {
    if (this.#pending.has(index)) return
    this.#answers[index] = { error: new Error('it has not answered') }
    const { settings } = this.#options
    const asking = readServerState(url, settings, { withinMs: this.#limits.answerMs, signal: this.#signal })
      .then(
        (state) => void (this.#answers[index] = { state }),
        (error: unknown) => void (this.#answers[index] = { error }),
      )
      .finally(() => this.#pending.delete(index))
    this.#pending.set(index, asking)
  }
}

function statesOf(answers: readonly Answer[]): (ServerState | undefined)[] {
  return answers.map(({ state }) => state)
}

function noServer({ urls }: PostgresUrl, answers: readonly Answer[]): Error {
  const [first] = answers
  if (urls.length === 1 && first?.error !== undefined) return toError(first.error)
  const reasons = urls.map((url, index) => {
    const reason = answers[index]?.state ? 'it takes no changes' : errorMessage(answers[index]?.error)
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
