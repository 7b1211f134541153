import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { endOfTurn } from '../../kernel/waiting.ts'
import {
  END_REASONS,
  type RegisteredSession,
  type SessionEnd,
  type SessionNews,
  type SessionRegistry,
} from '../../ports/session-registry.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import { MINUTE, SECOND, toRfc3339 } from '../../kernel/time.ts'
import type { Authenticator, TokenHolder } from '../../ports/authentication.ts'
import type { ApiConnection } from '../http/api-client/api-connection.ts'
import { type Budget, SessionOutput } from './budget.ts'
import {
  CLOSE,
  closeCodeOf,
  type ClientFrame,
  heartbeatText,
  readClientFrame,
  type RenewFrame,
  type RequestFrame,
  type ServerFrame,
} from './frames.ts'
import { requireRole } from './handshake.ts'
import { Heartbeat } from './heartbeat-scheduler.ts'
import { SessionRequests } from './session-requests.ts'
import type { SessionFields, SessionTelemetry } from './telemetry.ts'

/** What all sessions of a gateway share. */
export interface ClientSessionDeps {
  /** Name of the gateway. */
  readonly name: string
  readonly heartbeatMs: number
  readonly clock: Clock
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly registry: Pick<SessionRegistry, 'renew'>
  readonly api: Pick<ApiConnection, 'ask'>
  readonly telemetry: SessionTelemetry
  /** Requests of all sessions that the api answers at once. */
  readonly exchanges: Budget
  /** Bytes that are held for the clients of all sessions. */
  readonly outgoingBytes: Budget
  /** See {@link RegistrySync.requireCurrentEndings}. */
  readonly requireCurrentEndings: () => void
  /** Called once, when the session is over; its connection may still be closing. */
  readonly onEnd: (session: ClientSession, end: SessionEnd) => void
  /** Called once, after that, when the connection is closed. */
  readonly onDisconnect: (session: ClientSession) => void
}

export interface ClientSessionParts {
  readonly connection: WebSocket
  readonly registered: RegisteredSession
  readonly holder: TokenHolder
  readonly fields: SessionFields
}

/** One session with one client, from its registration to the end of its connection. */
export class ClientSession {
  readonly fields: SessionFields
  readonly #deps: ClientSessionDeps
  readonly #connection: WebSocket
  readonly #registered: RegisteredSession
  readonly #startedAt: number
  readonly #output: SessionOutput
  readonly #heartbeat = new Heartbeat()
  /** Made with the first request: most sessions send none. */
  #requests: SessionRequests | undefined
  #identity: Identity
  #token: TokenLifetime
  #isOver = false
  #isRenewing = false
  #lastSeenAt: number
  #hasNews = true

  constructor(deps: ClientSessionDeps, { connection, registered, holder, fields }: ClientSessionParts) {
    const { clock } = deps
    this.fields = fields
    this.#deps = deps
    this.#connection = connection
    this.#output = new SessionOutput(deps, connection)
    this.#registered = registered
    this.#startedAt = clock.monotonic()
    this.#lastSeenAt = clock.now()
    this.#identity = holder.identity
    this.#token = new TokenLifetime(clock, holder.expiresAt)
    this.#listen(connection)
  }

  get id(): string {
    return this.#registered.id
  }

  get durationMs(): number {
    return this.#deps.clock.monotonic() - this.#startedAt
  }

  /** Sends the session frame, which a session begins with. */
  greet(): void {
    const { name, heartbeatMs, clock } = this.#deps
    const { id, roles, name: userName } = this.#identity
    this.#send({
      type: 'session',
      session_id: this.#registered.id,
      virtual_ip: this.#registered.virtualIp,
      prefix_length: this.#registered.prefixLength,
      heartbeat_seconds: heartbeatMs / SECOND,
      gateway: name,
      user: { id, name: userName, roles },
    })
    this.checkToken(clock.monotonic())
  }

  /** Sends a heartbeat, or ends the session when the last ones have no answer. `at` is monotonic. */
  beat(at: number): void {
    const seq = this.#heartbeat.next(at)
    if (seq === undefined) return this.end(CLOSE.noHeartbeat, END_REASONS.no_heartbeat)
    this.#write(heartbeatText(seq, toRfc3339(this.#deps.clock.now())), 'heartbeat')
  }

  /** Warns once before the token expires, and ends the session when it has expired. `at` is monotonic. */
  checkToken(at: number): void {
    const state = this.#token.check(at)
    if (state === 'expired') this.end(CLOSE.tokenOver, END_REASONS.token_expired)
    else if (state === 'expiring') this.#send({ type: 'expiring', at: toRfc3339(this.#token.expiresAt) })
  }

  /** The last sign of life and round trip; undefined when the client has sent nothing since the last call. */
  takeNews(): SessionNews | undefined {
    if (!this.#hasNews) return undefined
    this.#hasNews = false
    return { id: this.id, lastSeenAt: this.#lastSeenAt, rttMs: this.#heartbeat.rttMs }
  }

  /** Ends the session with this close code, unless it is over already. */
  end(code: number, reason: string): void {
    if (this.#finish(code, reason)) this.#connection.close(code, reason)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** What the client has not read yet. */
  get unreadBytes(): number {
    return this.#output.unreadBytes
  }

  /** See {@link SessionOutput.stalledBytes}. */
  stalledBytes(at: number): number {
    return this.#output.stalledBytes(at)
  }

  /** Closes the connection without waiting for the client. */
  terminate(): void {
    this.#connection.terminate()
  }

  #listen(connection: WebSocket): void {
    connection.on('message', (data, isBinary) => this.#receive(data, isBinary))
    connection.on('ping', (data) => this.#answerPing(data))
    connection.on('pong', () => {
      this.#markSeen()
      this.#heartbeat.answerLast(this.#deps.clock.monotonic())
    })
    connection.on('error', (error) => void this.#finish(closeCodeOf(error), error.message))
    connection.on('close', (code) => {
      this.#finish(code, code === CLOSE.lost ? END_REASONS.connection_lost : END_REASONS.closed_by_client)
      this.#deps.onDisconnect(this)
    })
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return
    this.#markSeen()
    const frame = isBinary ? undefined : readClientFrame(textOf(data))
    this.#deps.telemetry.countFrame('in', frame?.type ?? 'bad')
    if (!frame) return this.end(CLOSE.badFrame, END_REASONS.frame_invalid)
    this.checkToken(this.#deps.clock.monotonic())
    if (!this.#isOver) this.#handle(frame)
  }

  #handle(frame: ClientFrame): void {
    if (frame.type === 'heartbeat_ack') this.#heartbeat.answer(frame.seq, this.#deps.clock.monotonic())
    else if (frame.type === 'request') void this.#request(frame)
    else void this.#renew(frame)
  }

  async #request(frame: RequestFrame): Promise<void> {
    this.#requests ??= new SessionRequests({ ...this.#deps, address: this.fields.remote_address })
    const answer = await this.#requests.answer(frame, this.#identity)
    await endOfTurn()
    if (answer) this.#write(answer.text, answer.type, answer.reservedBytes)
  }

  async #renew({ token }: RenewFrame): Promise<void> {
    if (token === undefined) return this.#refuseToken()
    if (this.#isRenewing) return this.#sendError('too_many_requests', 'The session is being renewed already.')
    this.#isRenewing = true
    try {
      await this.#replaceToken(await this.#deps.authenticator.holder(token))
    } catch (error) {
      this.#rejectToken(error)
    } finally {
      this.#isRenewing = false
    }
  }

  async #replaceToken(holder: TokenHolder): Promise<void> {
    const { clock, registry } = this.#deps
    requireRole(holder)
    const { identity, generation, issuedAt } = holder
    if (identity.id !== this.#identity.id) {
      return this.#sendError('forbidden', 'The token is of another user; open a new session with it.')
    }
    await registry.renew(this.id, identity.id, { generation, issuedAt, token: identity.token })
    if (this.#isOver) return
    this.#identity = identity
    this.#token = new TokenLifetime(clock, holder.expiresAt)
    this.#send({ type: 'renewed', at: toRfc3339(holder.expiresAt) })
    this.checkToken(clock.monotonic())
  }

  /** When the token cannot be verified at the moment, the session goes on with the one it has. */
  #rejectToken(error: unknown): void {
    if (error instanceof AppError && error.kind === 'unavailable') this.#sendError(error.code, error.message)
    else this.#refuseToken()
  }

  #refuseToken(): void {
    this.end(CLOSE.tokenOver, END_REASONS.renewal_invalid)
  }

  #answerPing(data: Buffer): void {
    this.#markSeen()
    if (this.#canWrite()) this.#output.pong(data)
  }

  #markSeen(): void {
    this.#lastSeenAt = this.#deps.clock.now()
    this.#hasNews = true
  }

  #sendError(code: string, message: string): void {
    this.#send({ type: 'error', code, message })
  }

  #send(frame: ServerFrame): void {
    this.#write(JSON.stringify(frame), frame.type)
  }

  #write(text: string, type: string, reservedBytes = 0): void {
    if (this.#canWrite()) this.#output.write(text, type, reservedBytes)
    else this.#deps.outgoingBytes.release(reservedBytes)
  }

  #canWrite(): boolean {
    if (this.#isOver) return false
    if (!this.#output.isFull) return true
    this.end(CLOSE.slowReader, END_REASONS.output_unread)
    return false
  }

  #finish(code: number, reason: string): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#requests?.abort()
    this.#deps.onEnd(this, { id: this.id, code, reason })
    return true
  }
}

function textOf(data: RawData): string {
  // The library's default, `nodebuffer`, delivers every message as one Buffer.
  return Buffer.isBuffer(data) ? data.toString() : ''
}

// docs/specification.md, Gateway
const WARNING_MS = 5 * MINUTE

/** How long the token of a session is still valid. */
class TokenLifetime {
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Monotonic: the wall clock may be set during a session, and the session must not end sooner or later for it. */
  readonly #endsAt: number
  #isWarned = false

  constructor(clock: Clock, expiresAt: number) {
    this.expiresAt = expiresAt
    this.#endsAt = clock.monotonic() + expiresAt - clock.now()
  }

  /** `expiring` once, when a few minutes are left. `at` is monotonic. */
  check(at: number): 'valid' | 'expiring' | 'expired' {
    if (at >= this.#endsAt) return 'expired'
    if (this.#isWarned || at < this.#endsAt - WARNING_MS) return 'valid'
    this.#isWarned = true
    return 'expiring'
  }
}
