import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { WebSocket } from 'ws'
import type { Authenticator } from '../../ports/authentication.ts'
import {
  END_REASONS,
  type SessionEnd,
  type SessionNews,
  type SessionRegistry,
  INTERVALS_UNTIL_DEAD,
} from '../../ports/session-registry.ts'
import type { ApiConnection } from '../http/api-client/api-connection.ts'
import type { Admitted } from './admission.ts'
import { CLOSE } from './frames.ts'
import { HeartbeatScheduler } from './heartbeat-scheduler.ts'
import { Budget } from './budget.ts'
import { ClientSession, type ClientSessionDeps } from './session.ts'
import type { SessionTelemetry } from './telemetry.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { type Logger, createOutage, type Outage } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'

export interface SessionTableDeps {
  /** Name of the gateway. */
  readonly name: string
  readonly registry: Pick<SessionRegistry, 'renew' | 'close' | 'beat' | 'listEnds' | 'acknowledge'>
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly api: Pick<ApiConnection, 'ask'>
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: SessionTelemetry
  readonly heartbeatMs: number
  /** How many bytes may be held for clients that have not read them yet, over all sessions. */
  readonly maxOutgoingBytes?: number
}

// With what reading and sending an answer takes beside it, about three times as much memory.
const MAX_OUTGOING_BYTES = 16 * 1_048_576
// Each holds a connection to the api and the first part of its answer; further ones would only wait at the api.
const MAX_EXCHANGES = 256
// A new connection to the api takes about a millisecond.
const EXCHANGES_PER_TURN = 8
// More than a gateway opens while one connection is upgraded.
const EARLY_ENDS = 10_000
// A session that was ended elsewhere has to be closed within a second.
const TICK_MS = SECOND / 2
/** How long a client may take to answer a close frame. */
export const CLOSE_TIMEOUT_MS = 1.5 * SECOND
// docs/specification.md, Gateway: spread over 5 s, because clients reconnect at once
const MAX_CLOSING_MS = 5 * SECOND
const CLOSING_MS_PER_SESSION = 5

/** The open sessions of a gateway, with their heartbeats and their place in the registry. */
export class SessionTable {
  readonly #clock: Clock
  readonly #telemetry: SessionTelemetry
  readonly #sessions = new Map<string, ClientSession>()
  /** Ends of sessions that are not in the table: over, or registered and not opened yet. */
  readonly #earlyEnds = new LRUCache<string, SessionEnd>({ max: EARLY_ENDS })
  /** Connections of open sessions, and of sessions that are over and still closing. */
  readonly #connections = new Set<ClientSession>()
  readonly #heartbeats: HeartbeatScheduler<ClientSession>
  readonly #sync: RegistrySync
  readonly #outgoingBytes: Budget
  readonly #sessionDeps: ClientSessionDeps
  readonly #timers: NodeJS.Timeout[] = []
  #disconnected: PromiseWithResolvers<void> | undefined

  constructor(deps: SessionTableDeps) {
    this.#clock = deps.clock
    this.#telemetry = deps.telemetry
    this.#heartbeats = new HeartbeatScheduler({
      clock: deps.clock,
      intervalMs: deps.heartbeatMs,
      beat: (session, at) => session.beat(at),
    })
    this.#sync = new RegistrySync({
      ...deps,
      takeNews: () => [...this.#takeNews()],
      onEnded: (end) => this.#end(end),
      onPresumedDead: () => this.#endAll(END_REASONS.registry_lost),
    })
    this.#outgoingBytes = new Budget(deps.maxOutgoingBytes ?? MAX_OUTGOING_BYTES)
    this.#sessionDeps = {
      ...deps,
      exchanges: new Budget(MAX_EXCHANGES, { grantsPerTurn: EXCHANGES_PER_TURN }),
      outgoingBytes: this.#outgoingBytes,
      requireCurrentEndings: () => this.#sync.requireCurrentEndings(),
      onEnd: (session, end) => this.#remove(session, end),
      onDisconnect: (session) => this.#disconnect(session),
    }
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Held for clients that have not read them yet. */
  get outgoingBytes(): number {
    return this.#outgoingBytes.used
  }

  /** Starts the heartbeats and the exchange with the registry. */
  start(): void {
    this.#timers.push(
      setInterval(() => this.#heartbeats.tick(), this.#heartbeats.slotMs),
      setInterval(() => this.#tick(), TICK_MS),
    )
  }

  add(connection: WebSocket, { registered, holder, fields }: Admitted): void {
    const session = new ClientSession(this.#sessionDeps, { connection, registered, holder, fields })
    this.#sessions.set(session.id, session)
    this.#connections.add(session)
    this.#heartbeats.add(session)
    this.#telemetry.recordOpening(fields)
    session.greet()
    const early = this.#earlyEnds.get(session.id)
    if (early) session.end(early.code, early.reason)
  }

  #end(end: SessionEnd): void {
    const session = this.#sessions.get(end.id)
    if (session) session.end(end.code, end.reason)
    else this.#earlyEnds.set(end.id, end)
  }

  /** Releases the address of a session that was registered and never got its connection. */
  release(end: SessionEnd): void {
    this.#sync.close(end)
  }

  /** Ends all sessions with 1001; resolves when they are disconnected and their addresses released. */
  async close(): Promise<void> {
    await this.#closeAll()
    await this.#waitForDisconnects()
    this.#timers.forEach(clearInterval)
    await this.#sync.settle()
  }

  #tick(): void {
    const now = this.#clock.monotonic()
    for (const session of this.#sessions.values()) session.checkToken(now)
    this.#endSlowReaders(now)
    this.#sync.tick()
  }

  /** When answers wait for memory, the clients that hold most of it and do not read give it back. */
  #endSlowReaders(now: number): void {
    let missing = this.#outgoingBytes.missing - this.#closingBytes()
    if (missing <= 0) return
    const stalled = [...this.#sessions.values()]
      .map((session) => ({ session, bytes: session.stalledBytes(now) }))
      .filter(({ bytes }) => bytes > 0)
      .sort((one, other) => other.bytes - one.bytes)
    for (const { session, bytes } of stalled) {
      if (missing <= 0) return
      session.end(CLOSE.slowReader, END_REASONS.memory_needed)
      missing -= bytes
    }
  }

  /** What sessions that are over still hold, and release when they are disconnected. */
  #closingBytes(): number {
    let bytes = 0
    for (const session of this.#connections) if (session.isOver) bytes += session.unreadBytes
    return bytes
  }

  #remove(session: ClientSession, end: SessionEnd): void {
    this.#sessions.delete(session.id)
    this.#heartbeats.remove(session)
    this.#sync.close(end)
    this.#telemetry.recordEnd(session.fields, end, session.durationMs)
  }

  #disconnect(session: ClientSession): void {
    this.#connections.delete(session)
    if (this.#connections.size === 0) this.#disconnected?.resolve()
  }

  *#takeNews(): Generator<SessionNews> {
    for (const session of this.#sessions.values()) {
      const news = session.takeNews()
      if (news) yield news
    }
  }

  #endAll(reason: string): void {
    for (const session of this.#sessions.values()) session.end(CLOSE.goingAway, reason)
  }

  async #closeAll(): Promise<void> {
    const spreadMs = Math.min(MAX_CLOSING_MS, this.#sessions.size * CLOSING_MS_PER_SESSION)
    await Promise.all(
      [...this.#sessions.values()].map(async (session) => {
        await sleep(Math.random() * spreadMs)
        session.end(CLOSE.goingAway, END_REASONS.gateway_stopping)
      }),
    )
  }

  async #waitForDisconnects(): Promise<void> {
    if (this.#connections.size === 0) return
    this.#disconnected = Promise.withResolvers()
    const limit = setTimeout(() => this.#terminateAll(), CLOSE_TIMEOUT_MS)
    await this.#disconnected.promise
    clearTimeout(limit)
  }

  #terminateAll(): void {
    for (const session of this.#connections) session.terminate()
  }
}

export interface RegistrySyncDeps {
  readonly registry: Pick<SessionRegistry, 'close' | 'beat' | 'listEnds' | 'acknowledge'>
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeatMs: number
  /** The last sign of life and round trip of each session that has answered since the last call. */
  readonly takeNews: () => SessionNews[]
  /** A session was ended elsewhere. */
  readonly onEnded: (end: SessionEnd) => void
  /** Other gateways may consider this one dead by now, and lease its addresses again. */
  readonly onPresumedDead: () => void
}

// docs/specification.md, Gateway: a disabled user's requests are refused within 10 s
const MAX_ENDINGS_AGE_MS = 10 * SECOND
// Several beats have to fail before another gateway considers this one dead.
const BEATS_PER_INTERVAL = 3

/** Keeps the registry and the sessions of this process consistent with each other. */
export class RegistrySync {
  readonly #deps: RegistrySyncDeps
  readonly #outage: Outage
  readonly #closes: PendingCloses
  readonly #readEndings: () => Promise<void>
  readonly #beat: () => Promise<void>
  #nextBeatAt: number
  #lastBeatAt: number
  #endingsReadAt: number

  constructor(deps: RegistrySyncDeps) {
    this.#deps = deps
    this.#outage = createOutage(deps.logger, 'sessions', { clock: deps.clock })
    this.#closes = new PendingCloses(deps.registry, this.#outage.fails)
    this.#readEndings = singleFlight(() => this.#applyEndings(), this.#outage.fails)
    this.#beat = singleFlight(
      () => this.#sendBeat(),
      (error) => this.#missBeat(error),
    )
    this.#nextBeatAt = this.#lastBeatAt = this.#endingsReadAt = deps.clock.monotonic()
  }

  /**
   * Throws `store_unavailable` when endings could not be read for a while: any session may belong to a user who was
   * disabled meanwhile.
   */
  requireCurrentEndings(): void {
    if (this.#deps.clock.monotonic() - this.#endingsReadAt <= MAX_ENDINGS_AGE_MS) return
    throw new AppError(
      'unavailable',
      'store_unavailable',
      'The gateway cannot reach its database to confirm the session; try again later.',
    )
  }

  /** Reports the end of a session. It reaches the registry soon, in a batch, and is retried until then. */
  close(end: SessionEnd): void {
    this.#closes.add(end)
  }

  /** Reads endings, writes pending closes, and beats when that is due. To be called twice a second. */
  tick(): void {
    void this.#closes.flush()
    void this.#readEndings()
    const now = this.#deps.clock.monotonic()
    if (now < this.#nextBeatAt) return
    this.#nextBeatAt = now + this.#deps.heartbeatMs / BEATS_PER_INTERVAL
    void this.#beat()
  }

  /** Resolves when the registry has taken every close, or has failed to. */
  async settle(): Promise<void> {
    // The first may be a run that began before the last close was added.
    await this.#closes.flush()
    await this.#closes.flush()
  }

  async #applyEndings(): Promise<void> {
    const { registry, clock, onEnded } = this.#deps
    const startedAt = clock.monotonic()
    const ends = await registry.listEnds()
    this.#endingsReadAt = startedAt
    if (ends.length === 0) return
    for (const end of ends) onEnded(end)
    await registry.acknowledge(ends.map(({ id }) => id))
  }

  async #sendBeat(): Promise<void> {
    const { registry, clock, takeNews } = this.#deps
    const startedAt = clock.monotonic()
    await registry.beat(takeNews())
    this.#lastBeatAt = startedAt
    this.#outage.works()
  }

  #missBeat(error: unknown): void {
    const { clock, heartbeatMs, onPresumedDead } = this.#deps
    this.#outage.fails(error)
    if (clock.monotonic() - this.#lastBeatAt >= INTERVALS_UNTIL_DEAD * heartbeatMs) onPresumedDead()
  }
}

/** Work that never overlaps with itself: a call during a run waits for that run. A failure goes to `onFailure` alone. */
function singleFlight(work: () => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work()
      .catch(onFailure)
      .finally(() => (running = undefined))
    return running
  }
}

const BATCH_SIZE = 500

/** Ends of sessions on their way to the registry: written in batches, and retried until the registry has taken them. */
class PendingCloses {
  readonly #registry: Pick<SessionRegistry, 'close'>
  readonly #closes: SessionEnd[] = []
  /** Writes what is pending; resolves, without an error, when it is written or has failed. */
  readonly flush: () => Promise<void>

  constructor(registry: Pick<SessionRegistry, 'close'>, onFailure: (error: unknown) => void) {
    this.#registry = registry
    this.flush = singleFlight(() => this.#write(), onFailure)
  }

  add(end: SessionEnd): void {
    // Sessions that end in the same turn of the event loop are written together.
    if (this.#closes.push(end) === 1) setImmediate(() => void this.flush())
  }

  async #write(): Promise<void> {
    while (this.#closes.length > 0) {
      const batch = this.#closes.slice(0, BATCH_SIZE)
      await this.#registry.close(batch)
      this.#closes.splice(0, batch.length)
    }
  }
}
