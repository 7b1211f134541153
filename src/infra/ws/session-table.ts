import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import type { Authenticator } from '../../ports/authentication.ts'
import {
  END_REASONS,
  type SessionEnd,
  type SessionNews,
  type SessionRegistry,
} from '../../ports/session-registry.ts'
import type { ApiConnection } from '../http/api-client/api-connection.ts'
import type { Admitted } from './admission.ts'
import { CLOSE } from './frames.ts'
import { HeartbeatScheduler } from './heartbeat-scheduler.ts'
import { Budget } from './budget.ts'
import { RegistrySync } from './registry-sync.ts'
import { ClientSession, type ClientSessionDeps } from './session.ts'
import type { SessionTelemetry } from './telemetry.ts'

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
