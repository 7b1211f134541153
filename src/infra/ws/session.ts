import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import { MINUTE, SECOND, toRfc3339 } from '../../kernel/time.ts'
import type { ApiConnection } from '../http/api-connection.ts'
import { CLOSE, closeCodeOf } from './close-codes.ts'
import {
  heartbeatText,
  readClientFrame,
  type ClientFrame,
  type HeartbeatAck,
  type RenewFrame,
  type RequestFrame,
  type ServerFrame,
} from './frames.ts'
import type { Authenticator, TokenHolder } from '../../ports/authenticator.ts'
import { requireRole } from './holders.ts'
import type { Records, SessionFields } from './records.ts'
import type { RegisteredSession, SessionEnd, SessionNews } from '../../ports/session-registry.ts'
import { SessionRequests } from './session-requests.ts'

/** What all sessions of a gateway share. */
export interface SessionDeps {
  /** Of the gateway. */
  readonly name: string
  readonly heartbeatMs: number
  readonly clock: Clock
  readonly authenticator: Pick<Authenticator, 'holder'>
  readonly api: Pick<ApiConnection, 'ask'>
  readonly records: Records
  /** Called once, when it is over; the connection may still be closing. */
  readonly onEnd: (session: Session, end: SessionEnd) => void
  /** Called once, after that, when the connection is gone. */
  readonly onGone: (session: Session) => void
}

export interface SessionParts {
  readonly connection: WebSocket
  readonly registered: RegisteredSession
  readonly holder: TokenHolder
  readonly fields: SessionFields
}

// contract, section 5
const WARNING_MS = 5 * MINUTE
const UNANSWERED_LIMIT = 2
const WAITING_LIMIT_BYTES = 1_048_576

/** One session with one client, from its registration to the end of its connection. */
export class Session {
  /** Its place in the wheel of heartbeats. */
  slot = 0
  readonly fields: SessionFields
  readonly #deps: SessionDeps
  readonly #connection: WebSocket
  readonly #registered: RegisteredSession
  readonly #startedAt: number
  #identity: Identity
  /** Of the token; the wall clock may be set while the session lasts, its end must not move. */
  #endsAt = 0
  #expiresAt = 0
  #isWarned = false
  #isOver = false
  #isRenewing = false
  #requests: SessionRequests | undefined
  #seq = 0
  #unanswered = 0
  #beatAt = 0
  #rttMs: number | null = null
  #lastSeenAt: number
  #hasNews = true

  constructor(deps: SessionDeps, { connection, registered, holder, fields }: SessionParts) {
    this.fields = fields
    this.#deps = deps
    this.#connection = connection
    this.#registered = registered
    this.#startedAt = deps.clock.monotonic()
    this.#lastSeenAt = deps.clock.now()
    this.#identity = holder.identity
    this.#hold(holder)
    connection.on('message', (data, isBinary) => this.#receive(data, isBinary))
    connection.on('ping', (data) => this.#answerPing(data))
    connection.on('pong', () => {
      this.#hear()
      this.#answered(this.#seq)
    })
    connection.on('error', (error) => void this.#finish(closeCodeOf(error), error.message))
    connection.on('close', (code) => {
      this.#finish(code, code === CLOSE.lost ? 'the connection was lost' : 'closed by the client')
      deps.onGone(this)
    })
  }

  get id(): string {
    return this.#registered.id
  }

  get heldMs(): number {
    return this.#deps.clock.monotonic() - this.#startedAt
  }

  /** Sends what a session begins with. */
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
    this.watchToken(clock.monotonic())
  }

  /** Asks for a sign of life, or ends the session when it has given none. `at` is monotonic. */
  beat(at: number): void {
    if (this.#unanswered >= UNANSWERED_LIMIT) {
      return this.end(CLOSE.noHeartbeat, `${UNANSWERED_LIMIT} heartbeats without an answer`)
    }
    this.#unanswered++
    this.#beatAt = at
    this.#write(heartbeatText(++this.#seq, toRfc3339(this.#deps.clock.now())), 'heartbeat')
  }

  /** Warns of the token's end once, and ends the session with it. `at` is monotonic. */
  watchToken(at: number): void {
    if (at >= this.#endsAt) return this.end(CLOSE.tokenOver, 'the token has expired')
    if (this.#isWarned || at < this.#endsAt - WARNING_MS) return
    this.#isWarned = true
    this.#send({ type: 'expiring', at: toRfc3339(this.#expiresAt) })
  }

  /** What was heard since the last call, if anything. */
  takeNews(): SessionNews | undefined {
    if (!this.#hasNews) return undefined
    this.#hasNews = false
    return { id: this.id, lastSeenAt: this.#lastSeenAt, rttMs: this.#rttMs }
  }

  /** Ends it with this close code, unless it is over already. */
  end(code: number, reason: string): void {
    if (this.#finish(code, reason)) this.#connection.close(code, reason)
  }

  /** Cuts the connection without waiting for the client. */
  cut(): void {
    this.#connection.terminate()
  }

  #hold({ identity, expiresAt }: TokenHolder): void {
    const { clock } = this.#deps
    this.#identity = identity
    this.#expiresAt = expiresAt
    this.#endsAt = clock.monotonic() + expiresAt - clock.now()
    this.#isWarned = false
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isOver) return
    this.#hear()
    const frame = isBinary ? undefined : readClientFrame(textOf(data))
    this.#deps.records.frame('in', frame?.type ?? 'bad')
    if (!frame) return this.end(CLOSE.badFrame, 'a frame that is none of the protocol')
    this.watchToken(this.#deps.clock.monotonic())
    if (!this.#isOver) this.#react(frame)
  }

  #react(frame: ClientFrame): void {
    if (frame.type === 'heartbeat_ack') this.#acknowledge(frame)
    else if (frame.type === 'request') void this.#request(frame)
    else void this.#renew(frame)
  }

  #acknowledge({ seq }: HeartbeatAck): void {
    if (seq >= 1 && seq <= this.#seq) this.#answered(seq)
  }

  /** A late answer leaves the heartbeats after it unanswered. */
  #answered(seq: number): void {
    const isLatest = seq === this.#seq && this.#unanswered > 0
    if (isLatest) this.#rttMs = this.#deps.clock.monotonic() - this.#beatAt
    this.#unanswered = Math.min(this.#unanswered, this.#seq - seq)
  }

  async #request(frame: RequestFrame): Promise<void> {
    this.#requests ??= new SessionRequests(this.#deps.api)
    const answer = await this.#requests.answer(frame, this.#identity)
    if (answer) this.#write(answer.text, answer.type)
  }

  async #renew({ token }: RenewFrame): Promise<void> {
    if (this.#isRenewing) return this.#refuse('too_many_requests', 'The session is being renewed already.')
    this.#isRenewing = true
    try {
      this.#take(await this.#deps.authenticator.holder(token))
    } catch (error) {
      this.#refuseToken(error)
    } finally {
      this.#isRenewing = false
    }
  }

  #take(holder: TokenHolder): void {
    requireRole(holder)
    if (holder.identity.id !== this.#identity.id) {
      return this.#refuse('forbidden', 'The token is of another user; connect anew with it.')
    }
    this.#hold(holder)
    this.#send({ type: 'renewed', at: toRfc3339(holder.expiresAt) })
    this.watchToken(this.#deps.clock.monotonic())
  }

  /** That a token cannot be judged now is no fault of its holder. */
  #refuseToken(error: unknown): void {
    if (error instanceof AppError && error.kind === 'unavailable') this.#refuse(error.code, error.message)
    else this.end(CLOSE.tokenOver, 'the token for the renewal is not valid')
  }

  #refuse(code: string, message: string): void {
    this.#send({ type: 'error', code, message })
  }

  #answerPing(data: Buffer): void {
    this.#hear()
    if (this.#mayWrite()) this.#connection.pong(data)
  }

  #hear(): void {
    this.#lastSeenAt = this.#deps.clock.now()
    this.#hasNews = true
  }

  #send(frame: ServerFrame): void {
    this.#write(JSON.stringify(frame), frame.type)
  }

  #write(text: string, type: string): void {
    if (!this.#mayWrite()) return
    this.#connection.send(text)
    this.#deps.records.frame('out', type)
  }

  #mayWrite(): boolean {
    if (this.#isOver) return false
    if (this.#connection.bufferedAmount <= WAITING_LIMIT_BYTES) return true
    this.end(CLOSE.slowReader, 'more than 1 MiB waits to be read')
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
  // What the library hands out unless it is told otherwise.
  return Buffer.isBuffer(data) ? data.toString() : ''
}
