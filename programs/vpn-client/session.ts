import { WebSocket, type RawData } from 'ws'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { AppError } from '../../src/kernel/errors.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type { GatewayAddress } from './addresses.ts'
import { closeReason } from './failure-reasons.ts'
import { readFrame, textOf, type ClientFrame, type ResponseFrame, type ServerFrame } from './frames.ts'
import { withoutToken } from './token-source.ts'
import { noSession, PendingRequests } from './pending-requests.ts'

// docs/specification.md, Gateway: a heartbeat is missed after the interval and 5 s
const HEARTBEAT_GRACE_MS = 5 * SECOND

/** The connection is closed if the gateway has not answered the close frame by then. */
const CLOSE_TIMEOUT_MS = 800

// docs/specification.md, Gateway: frame limit; a larger one would end the session
const MAX_FRAME_BYTES = 64 * 1_024

export interface SessionLoss {
  /** Close code of the WebSocket; 1006 when there was none. */
  readonly code: number
  readonly reason: string
  readonly heldMs: number
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Any JSON value. */
  readonly body?: unknown
}

interface Renewal {
  readonly token: Secret
  /** Why the token was refused; undefined when it was accepted. */
  readonly answer: PromiseWithResolvers<string | undefined>
}

export interface SessionParts {
  readonly socket: WebSocket
  readonly gateway: GatewayAddress
  readonly token: Secret
  readonly clock: WaitingClock
  /** Address in the session frame. */
  readonly virtualIp: string
  readonly heartbeatMs: number
}

/** One session with one gateway, from its session frame to its loss. It never reconnects. */
export class GatewaySession {
  readonly gateway: GatewayAddress
  readonly virtualIp: string
  /** Resolves once the session is over. Never rejects. */
  readonly lost: Promise<SessionLoss>
  readonly #socket: WebSocket
  readonly #clock: WaitingClock
  readonly #heartbeatMs: number
  readonly #startedAt: number
  readonly #loss = Promise.withResolvers<SessionLoss>()
  readonly #requests = new PendingRequests()
  #token: Secret
  #heartbeat = new AbortController()
  #renewal: Renewal | undefined
  #expiresAt: string | undefined
  #onExpiring: ((at: string) => void) | undefined
  #onRenewed: (() => void) | undefined
  #ownReason: string | undefined

  /** Must be called in the event-loop turn of the session frame, so that no later frame is missed. */
  constructor({ socket, gateway, token, clock, virtualIp, heartbeatMs }: SessionParts) {
    this.gateway = gateway
    this.virtualIp = virtualIp
    this.lost = this.#loss.promise
    this.#socket = socket
    this.#clock = clock
    this.#token = token
    this.#heartbeatMs = heartbeatMs
    this.#startedAt = clock.monotonic()
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.on('error', (error) => this.#noteProblem(error))
    socket.on('close', (code, reason) => this.#end(code, reason.toString()))
    void this.#awaitHeartbeat()
  }

  /** The last one that the gateway has accepted. */
  get token(): Secret {
    return this.#token
  }

  /** Calls the listener when the gateway warns that the token expires soon, and now if it has warned already. */
  whenExpiring(listener: (at: string) => void): void {
    this.#onExpiring = listener
    if (this.#expiresAt !== undefined) listener(this.#expiresAt)
  }

  /** Calls the listener when the gateway has accepted another token. */
  whenRenewed(listener: () => void): void {
    this.#onRenewed = listener
  }

  /**
   * Resolves with the api's response, also with one of an error status. Rejects when the session is lost before the
   * response, or the gateway answers with an error; the api may have executed the request nevertheless.
   */
  request(method: string, path: string, options: RequestOptions = {}): Promise<ResponseFrame> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(noSession('it is over'))
    const { id, response } = this.#requests.open()
    const frame = JSON.stringify({ type: 'request', id, method, path, ...options } satisfies ClientFrame)
    if (Buffer.byteLength(frame) > MAX_FRAME_BYTES) this.#requests.reject(id, tooLarge(method, path))
    else this.#socket.send(frame, ignoreFailure)
    return response
  }

  /** Resolves when every request was answered, or when that takes too long. */
  async finishRequests(withinMs: number, signal: AbortSignal): Promise<void> {
    const limit = new AbortController()
    const over = this.#clock.wait(withinMs, AbortSignal.any([limit.signal, signal]))
    await Promise.race([this.#requests.waitForAll(), over])
    limit.abort()
  }

  /** Replaces the token by a newer one. Resolves with why the gateway refused it, or with undefined. */
  async renew(token: Secret): Promise<string | undefined> {
    const answer = Promise.withResolvers<string | undefined>()
    this.#renewal = { token, answer }
    this.#send({ type: 'renew', token: token.reveal() })
    return answer.promise
  }

  /** Closes the session with 1000, within a second. */
  async close(reason: string): Promise<void> {
    this.#ownReason = reason
    this.#socket.close(1000)
    const limit = new AbortController()
    await Promise.race([this.lost, this.#clock.wait(CLOSE_TIMEOUT_MS, limit.signal)])
    limit.abort()
    this.#socket.terminate()
    await this.lost
  }

  #receive(data: RawData, isBinary: boolean): void {
    const frame = isBinary ? 'unreadable' : readFrame(textOf(data))
    if (frame === 'unreadable') this.#break('the gateway sent a frame that cannot be read')
    else if (frame !== 'unknown') this.#react(frame)
  }

  #react(frame: ServerFrame): void {
    switch (frame.type) {
      case 'heartbeat':
        void this.#awaitHeartbeat()
        return this.#send({ type: 'heartbeat_ack', seq: frame.seq })
      case 'response':
        return this.#requests.resolve(frame)
      case 'error':
        return this.#reactToError(frame)
      case 'expiring':
        return this.#reactToExpiring(frame.at)
      case 'renewed':
        return this.#reactToRenewed()
      case 'session':
        return this.#break('the gateway sent a second session frame')
    }
  }

  #reactToExpiring(at: string): void {
    const isKnown = this.#expiresAt !== undefined
    this.#expiresAt = at
    if (!isKnown) this.#onExpiring?.(at)
  }

  // Synchronous, because the next frame may be the `expiring` of the new token.
  #reactToRenewed(): void {
    if (!this.#renewal) return
    const { token, answer } = this.#renewal
    this.#renewal = undefined
    this.#token = token
    this.#expiresAt = undefined
    answer.resolve(undefined)
    this.#onRenewed?.()
  }

  #reactToError({ id, code, message }: Extract<ServerFrame, { type: 'error' }>): void {
    if (id === undefined) this.#renewal?.answer.resolve(withoutToken(message, this.#renewal.token))
    else this.#requests.reject(id, new AppError('unavailable', code, message))
  }

  async #awaitHeartbeat(): Promise<void> {
    this.#heartbeat.abort()
    const { signal } = (this.#heartbeat = new AbortController())
    const limitMs = this.#heartbeatMs + HEARTBEAT_GRACE_MS
    await this.#clock.wait(limitMs, signal)
    if (!signal.aborted) this.#break(`no heartbeat for ${limitMs / SECOND} s`)
  }

  #send(frame: ClientFrame): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame), ignoreFailure)
  }

  /** Without a close frame: a gateway that hangs or breaks the protocol would not answer it. */
  #break(reason: string): void {
    this.#ownReason ??= reason
    this.#socket.terminate()
  }

  /** After a protocol error the library closes the connection itself. */
  #noteProblem(error: Error): void {
    const isBreach = 'code' in error && String(error.code).startsWith('WS_ERR')
    if (isBreach) this.#ownReason ??= 'the gateway sent a frame that cannot be read'
  }

  #end(code: number, reason: string): void {
    this.#heartbeat.abort()
    const shown = withoutToken(this.#ownReason ?? closeReason(code, reason), this.#token)
    this.#loss.resolve({ code, reason: shown, heldMs: this.#clock.monotonic() - this.#startedAt })
    this.#renewal?.answer.resolve(shown)
    this.#requests.rejectAll(noSession(shown))
  }
}

function tooLarge(method: string, path: string): AppError {
  const message = `The request ${method} ${path} is larger than 64 KiB, the limit of a frame.`
  return new AppError('too_large', 'payload_too_large', message)
}

/** A socket that cannot be written to closes, and its `close` event ends the session. */
function ignoreFailure(): void {}
