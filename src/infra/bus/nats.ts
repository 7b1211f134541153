import { setTimeout as pause } from 'node:timers/promises'
import { AuthorizationError, connect } from '@nats-io/transport-node'
import type { Bus, BusMessage, BusState, PublishResult } from '../../kernel/bus.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import type { LogFields, Logger } from '../../kernel/logger.ts'
import type { Counter, Gauge, Metrics } from '../../kernel/metrics.ts'
import { backoffMs } from '../../kernel/retry.ts'
import { failed } from './batch.ts'
import { awaitGreeting } from './probe.ts'
import type { BusServer } from './servers.ts'
import { parseServer } from './servers.ts'
import { Session } from './session.ts'
import type { Coverage } from './streams.ts'
import { createCoverageFinder } from './streams.ts'

const RECONNECT = { initialMs: 100, maximumMs: 1_000 }

/** A connection that held for this long was sound; one that breaks sooner does not reset the waiting time. */
const SOUND_MS = 5_000

const CONNECT_MS = 3_000

/** A server that stopped answering is noticed after two to three intervals, so within 9 s. */
const PING = { pingInterval: 3_000, maxPingOut: 2 }

const DRAIN_MS = 2_000

export interface NatsBusOptions {
  /** `nats://host:port` or `tls://…`, each with its own `user:password@` or `token@`; tried in this order. */
  readonly servers: readonly string[]
  /** What the server's operator sees in the list of connections. */
  readonly name: string
  readonly logger: Logger
  readonly metrics: Metrics
}

/**
 * The bus on NATS. Connects in the background, again and again until it is closed, and never throws. A message whose subject a JetStream stream covers is confirmed by the stream's acknowledgement,
 * any other by a flush; all carry `Nats-Msg-Id`. User headers that begin with `Nats-` are refused.
 */
export function createNatsBus(options: NatsBusOptions): Bus {
  return new NatsBus(options)
}

class NatsBus implements Bus {
  readonly #servers: readonly string[]
  readonly #name: string
  readonly #logger: Logger
  readonly #findCoverage: ReturnType<typeof createCoverageFinder>
  readonly #connected: Gauge
  readonly #reconnects: Counter
  readonly #listeners = new Set<(state: BusState) => void>()
  readonly #closing = new AbortController()
  readonly #reasonsTold = new Set<string>()
  readonly #running: Promise<void>
  #state: BusState = 'disconnected'
  #session: Session | undefined
  #sessionCount = 0
  #closed: Promise<void> | undefined

  constructor({ servers, name, logger, metrics }: NatsBusOptions) {
    this.#servers = servers
    this.#name = name
    this.#logger = logger
    this.#findCoverage = createCoverageFinder(logger)
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

  async publish(messages: readonly BusMessage[]): Promise<PublishResult[]> {
    const session = this.#session
    if (this.#state === 'connected' && session) return session.publish(messages)
    return messages.map(() => failed(`the bus is ${this.#state}`))
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
      const isSound = session !== undefined && (await this.#serve(session, closing)) > SOUND_MS
      attempt = isSound ? 0 : attempt + 1
      await pause(backoffMs(RECONNECT, attempt), undefined, { signal: closing }).catch(() => undefined)
    }
  }

  async #connectToAny(closing: AbortSignal): Promise<Session | undefined> {
    for (const text of this.#servers) {
      try {
        return await this.#connect(parseServer(text), closing)
      } catch (error) {
        if (closing.aborted) return undefined
        this.#tellAway(error)
      }
    }
    return undefined
  }

  async #connect(server: BusServer, closing: AbortSignal): Promise<Session> {
    await awaitGreeting(server, closing)
    const connection = await connect({
      ...server.credentials,
      ...PING,
      ...(server.tls ? { tls: {} } : {}),
      servers: server.address,
      name: this.#name,
      timeout: CONNECT_MS,
      reconnect: false,
    })
    const coverage = await this.#findCoverage(connection)
    const session = new Session(connection, coverage)
    const ready = await Promise.race([this.#prepare(coverage), session.lost])
    if (typeof ready === 'string') throw new Error(ready)
    this.#tellConnected(server, ready)
    return session
  }

  async #prepare(coverage: Coverage): Promise<LogFields> {
    try {
      return { jetstream: await coverage.prepare() }
    } catch (error) {
      // Publishing asks again; until there is an answer the messages wait.
      return { jetstream: 'unknown', reason: errorMessage(error) }
    }
  }

  /** How long the session lasted, in milliseconds. */
  async #serve(session: Session, closing: AbortSignal): Promise<number> {
    const startedAt = systemClock.monotonic()
    if (closing.aborted) await session.close(0)
    this.#session = session
    this.#enter('connected')
    const reason = await session.lost
    this.#session = undefined
    if (this.#enter('disconnected'))
      this.#logger.warn({ reason }, 'bus disconnected; trying again until it is back')
    return systemClock.monotonic() - startedAt
  }

  /** False when nothing changed; `closed` is the last state. */
  #enter(state: BusState): boolean {
    if (this.#state === 'closed' || this.#state === state) return false
    this.#state = state
    this.#connected.set(state === 'connected' ? 1 : 0)
    for (const listener of this.#listeners) listener(state)
    return true
  }

  #tellConnected(server: BusServer, fields: LogFields): void {
    if (this.#sessionCount > 0) this.#reconnects.increment()
    this.#sessionCount += 1
    this.#reasonsTold.clear()
    this.#logger.info({ server: server.address, ...fields }, 'bus connected')
  }

  /** Once for each reason until the bus is back, however many attempts fail. */
  #tellAway(error: unknown): void {
    const reason = errorMessage(error)
    if (this.#reasonsTold.has(reason)) return
    this.#reasonsTold.add(reason)
    const level = error instanceof AuthorizationError ? 'error' : 'warn'
    this.#logger[level]({ reason }, 'bus is away; trying again until it is back')
  }
}
