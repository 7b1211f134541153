import { setTimeout as pause } from 'node:timers/promises'
import { type NatsConnection, AuthorizationError } from '@nats-io/transport-node'
import type { Bus, BusMessage, BusState, PublishResult } from '../../kernel/bus.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { type LogFields, type Logger, OUTAGES, OutageLength } from '../../kernel/logger.ts'
import type { Counter, Gauge, Metrics } from '../../kernel/metrics.ts'
import { backoffMs } from '../../kernel/waiting.ts'
import { failedResult } from './batch.ts'
import { awaitGreeting, connectLimited, type BusServer, parseServer } from './transport.ts'
import { BusSession } from './session.ts'
import { JetStreamOpener } from './jetstream.ts'
import { StreamCoverage } from './stream-coverage.ts'

const RECONNECT = { initialMs: 100, maximumMs: 1_000 }

/** A connection that lasted this long resets the backoff. */
const STABLE_MS = 5_000

const CONNECT_MS = 3_000

/** A server that does not answer is detected after two to three intervals, so within 9 s. */
const PING = { pingInterval: 3_000, maxPingOut: 2 }

const DRAIN_MS = 2_000

export const WITHOUT_JETSTREAM =
  'the bus has no JetStream: a message that nobody reads at its delivery is lost; "platform doctor" says what to do'

export interface NatsBusOptions {
  /** `nats://host:port` or `tls://…`, each with its own `user:password@` or `token@`; tried in this order. */
  readonly servers: readonly string[]
  /** The name of the connection in the server's monitoring. */
  readonly name: string
  /** Subjects that a stream must store if the server has JetStream, as patterns. The bus creates a stream for them. */
  readonly streamSubjects: readonly string[]
  /** How many servers store the stream that the bus creates; undefined: one, and an existing stream stays as it is. */
  readonly replicas?: number | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/**
 * The bus on NATS. Connects in the background, reconnects until it is closed, and never throws. A message whose subject
 * a JetStream stream takes is confirmed by the stream's acknowledgement, any other by a flush. Messages on
 * `streamSubjects` are never confirmed by a flush if the server has JetStream: they wait for a stream. All carry
 * `Nats-Msg-Id`. User headers that begin with `Nats-` are refused.
 */
export function createNatsBus(options: NatsBusOptions): Bus {
  return new NatsBus(options)
}

class NatsBus implements Bus {
  /** In the order in which they are tried. */
  #servers: readonly string[]
  readonly #options: NatsBusOptions
  readonly #jetStream = new JetStreamOpener()
  readonly #connected: Gauge
  readonly #reconnects: Counter
  readonly #listeners = new Set<(state: BusState) => void>()
  readonly #closing = new AbortController()
  readonly #loggedReasons = new Set<string>()
  readonly #outage: OutageLength
  /** Failure of the last attempt to connect. */
  #failure: string | undefined
  readonly #running: Promise<void>
  #state: BusState = 'disconnected'
  #session: BusSession | undefined
  /** The server of the last session. */
  #server = ''
  #sessionCount = 0
  #closed: Promise<void> | undefined

  constructor(options: NatsBusOptions) {
    const { servers, clock, logger, metrics } = options
    this.#options = options
    this.#servers = servers
    this.#outage = new OutageLength(logger, 'bus', clock)
    this.#connected = metrics.gauge({
      name: 'bus_connected',
      help: 'Whether the message bus is connected: 0 or 1.',
    })
    this.#reconnects = metrics.counter({
      name: 'bus_reconnects_total',
      help: 'Connections to the bus after the first.',
    })
    this.#connected.set(0)
    this.#running = this.#run(this.#closing.signal)
  }

  get state(): BusState {
    return this.#state
  }

  get problem(): string | undefined {
    return this.#session ? this.#session.problem : this.#failure
  }

  get streamMadeAt(): number | undefined {
    return this.#session?.streamMadeAt
  }

  get unstoredSince(): number | undefined {
    return this.#session?.unstoredSince
  }

  async publish(messages: readonly BusMessage[]): Promise<PublishResult[]> {
    const session = this.#session
    if (this.#state === 'connected' && session) return session.publish(messages)
    return messages.map(() => failedResult(`the bus is ${this.#state}`))
  }

  onState(listener: (state: BusState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  async #shutDown(): Promise<void> {
    const session = this.#session
    this.#enter('closed')
    this.#closing.abort()
    await session?.close(DRAIN_MS)
    await Promise.race([this.#running, pause(DRAIN_MS, undefined, { ref: false })])
  }

  async #run(closing: AbortSignal): Promise<void> {
    let attempt = 0
    while (!closing.aborted) {
      const session = await this.#connectToAny(closing)
      const isStable = session !== undefined && (await this.#serve(session, closing)) > STABLE_MS
      attempt = isStable ? 0 : attempt + 1
      await pause(backoffMs(RECONNECT, attempt), undefined, { signal: closing }).catch(() => undefined)
    }
  }

  async #connectToAny(closing: AbortSignal): Promise<BusSession | undefined> {
    for (const text of this.#servers) {
      try {
        const session = await this.#connect(parseServer(text), closing)
        this.#server = text
        return session
      } catch (error) {
        if (closing.aborted) return undefined
        this.#logFailure(error)
      }
    }
    return undefined
  }

  /** Tries the other servers first from now on. */
  #avoidServer(): void {
    this.#servers = [...this.#servers.filter((server) => server !== this.#server), this.#server]
  }

  async #connect(server: BusServer, closing: AbortSignal): Promise<BusSession> {
    await awaitGreeting(server, closing)
    const connection = await connectLimited({
      ...server.credentials,
      ...PING,
      ...(server.tls ? { tls: {} } : {}),
      servers: server.address,
      name: this.#options.name,
      timeout: CONNECT_MS,
      reconnect: false,
    })
    try {
      return await this.#openSession(server, connection)
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  async #openSession(server: BusServer, connection: NatsConnection): Promise<BusSession> {
    const jetStream = await this.#jetStream.open(connection)
    const coverage = new StreamCoverage({ ...this.#options, jetStream })
    const session = new BusSession(connection, coverage, this.#servers.length > 1)
    const result = await Promise.race([readCoverage(coverage), session.lost])
    if (typeof result === 'string') throw new Error(result)
    this.#onConnected(server, result)
    return session
  }

  /** Publishes on the session until it is lost; returns how long it lasted, in milliseconds. */
  async #serve(session: BusSession, closing: AbortSignal): Promise<number> {
    const { clock, logger } = this.#options
    const startedAt = clock.monotonic()
    if (closing.aborted) await session.close(0)
    this.#session = session
    this.#enter('connected')
    const reason = await session.lost
    this.#session = undefined
    this.#failure = reason
    if (session.lacksJetStream) this.#avoidServer()
    if (this.#enter('disconnected')) {
      this.#outage.fails({ reason })
      logger.warn({ reason }, 'bus disconnected; reconnecting')
    }
    return clock.monotonic() - startedAt
  }

  /** Returns false if the state did not change; `closed` is final. */
  #enter(state: BusState): boolean {
    if (this.#state === 'closed' || this.#state === state) return false
    this.#state = state
    this.#connected.set(state === 'connected' ? 1 : 0)
    for (const listener of this.#listeners) listener(state)
    return true
  }

  #onConnected(server: BusServer, fields: LogFields): void {
    if (this.#sessionCount > 0) this.#reconnects.increment()
    this.#sessionCount += 1
    this.#loggedReasons.clear()
    const { logger } = this.#options
    logger.info({ server: server.address, ...fields, ...this.#outage.end() }, OUTAGES.bus.worksAgain)
    if (fields['jetstream'] === false) logger.warn({ server: server.address }, WITHOUT_JETSTREAM)
  }

  /** Logs each reason once until the bus is connected, however many attempts fail. */
  #logFailure(error: unknown): void {
    const reason = errorMessage(error)
    this.#failure = reason
    this.#outage.fails({ reason })
    if (this.#loggedReasons.has(reason)) return
    this.#loggedReasons.add(reason)
    const level = error instanceof AuthorizationError ? 'error' : 'warn'
    this.#options.logger[level]({ reason }, OUTAGES.bus.fails)
  }
}

async function readCoverage(coverage: StreamCoverage): Promise<LogFields> {
  try {
    await coverage.refresh()
    return { jetstream: coverage.hasJetStream }
  } catch (error) {
    // The next publish asks again; until the server answers the messages wait.
    return { jetstream: 'unknown', reason: errorMessage(error) }
  }
}
