import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { SECOND } from '../../kernel/time.ts'
import { Connection, isParserPause } from './connection.ts'

/** Answers bytes that are no request, or cannot be read, and closes the connection. */
export type AnswerBroken = (error: NodeJS.ErrnoException, socket: Socket) => void

export interface ConnectionLimitOptions {
  /** Bytes of all connections together; see {@link MAX_UNSENT_BYTES}. */
  readonly maxUnsentBytes?: number
  /** How long a client may take none of the bytes that wait for it, in milliseconds. */
  readonly progressMs?: number
  /** Monotonic, in milliseconds. */
  readonly now?: () => number
}

// docs/specification.md, Limits
const MAX_UNSENT_BYTES = 64 * 1_048_576
const PROGRESS_MS = 15 * SECOND
// A client that reads has taken an answer sooner than this.
const STALL_MS = SECOND

/**
 * Bounds what the clients of an HTTP server can make it hold: requests that are sent without waiting for the answers, and
 * answers that nobody reads.
 */
export class ConnectionLimits {
  readonly #connections = new Map<Duplex, Connection>()
  readonly #maxUnsentBytes: number
  readonly #now: () => number
  readonly #cutOff = new WeakSet<Duplex>()
  #unsentBytes = 0
  #answerBroken: AnswerBroken = refuseBroken

  /** Takes over the requests and client errors of a server that has its one listener and does not listen yet. */
  constructor(server: Server, options: ConnectionLimitOptions = {}) {
    const { maxUnsentBytes = MAX_UNSENT_BYTES, progressMs = PROGRESS_MS } = options
    this.#maxUnsentBytes = maxUnsentBytes
    this.#now = options.now ?? (() => performance.now())
    const handle = takeListener(server)
    server.on(readyEvent(server), (socket: Socket) => this.#add(socket))
    server.on('request', this.inTurn(handle))
    // A framework answers such errors at once.
    server.removeAllListeners('clientError')
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      if (isParserPause(error)) this.#connections.get(socket)?.keepUnparsed(error)
      else this.#answerBroken(error, socket)
    })
    // The timer of a socket begins again whenever the kernel has taken or brought some bytes.
    server.setTimeout(progressMs, (socket) => this.#judge(socket))
  }

  /** A listener whose requests wait for those before them on their connection. */
  inTurn(handle: RequestListener): RequestListener {
    return (request, response) => {
      const connection = this.#connections.get(request.socket)
      if (connection) connection.add(request, response, handle)
      else handle(request, response)
    }
  }

  /** By default the answer is 400 without a body, as that of Node.js. */
  onBroken(answer: AnswerBroken): void {
    this.#answerBroken = answer
  }

  /** Bytes of all responses that clients have not read yet. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Counts a response that is held in memory until its client has read it; cuts the worst readers above the limit. */
  hold(response: ServerResponse, bytes: number): void {
    this.#connections.get(response.req.socket)?.hold(response, bytes, this.#now())
    while (this.#unsentBytes > this.#maxUnsentBytes) {
      const worst = this.#findSlowestReader()
      if (!worst) return
      this.#cut(worst)
    }
  }

  /**
   * No more requests come from the socket. Calls back once the complete ones are answered, or when it is closed; then the
   * socket is the caller's. `isAnsweringEarly`: a response has begun to a request that is not complete.
   */
  takeOver(socket: Duplex, then: (isAnsweringEarly: boolean) => void): void {
    const connection = this.#connections.get(socket)
    if (!connection) return then(false)
    const judge = () => this.#judge(connection.socket)
    socket.on('timeout', judge)
    connection.takeOver(() => {
      this.#connections.delete(socket)
      socket.off('timeout', judge)
      then(connection.isAnsweringEarly)
    })
  }

  /** Whether the connection was cut, because its client did not read. */
  wasCut(socket: Duplex): boolean {
    return this.#cutOff.has(socket)
  }

  /** Whether no request of the connection waits for its answer. */
  isIdle(socket: Duplex): boolean {
    return this.#connections.get(socket)?.isIdle ?? true
  }

  #add(socket: Socket): void {
    const connection = new Connection(socket, (change) => (this.#unsentBytes += change))
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      connection.close()
    })
  }

  /** Closes a connection on which no byte has moved for too long, unless the server is at work for it. */
  #judge(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection?.isBlocked) this.#cut(connection)
    // Between two requests. During a request the server is at work, or a stream has nothing to send.
    else if (connection?.isIdle ?? true) socket.destroy()
  }

  /** The connection with the most unread bytes: among those that have not read for a while, else among all. */
  #findSlowestReader(): Connection | undefined {
    const holding = [...this.#connections.values()].filter(({ unsentBytes }) => unsentBytes > 0)
    const before = this.#now() - STALL_MS
    const stalled = holding.filter(({ unsentSince }) => unsentSince <= before)
    const [first, ...others] = stalled.length > 0 ? stalled : holding
    return (
      first && others.reduce((worst, other) => (other.unsentBytes > worst.unsentBytes ? other : worst), first)
    )
  }

  #cut(connection: Connection): void {
    this.#cutOff.add(connection.socket)
    this.#connections.delete(connection.socket)
    connection.socket.destroy()
    connection.close()
  }
}

/** The event at which a connection has the socket that its requests name: with TLS, after the handshake. */
export function readyEvent(server: Server): 'connection' | 'secureConnection' {
  return 'setSecureContext' in server ? 'secureConnection' : 'connection'
}

function takeListener(server: Server): RequestListener {
  const [listener, ...others] = server.listeners('request') as RequestListener[]
  if (!listener || others.length > 0) throw new Error('The server needs exactly one listener for requests.')
  server.off('request', listener)
  return listener
}

function refuseBroken(_error: Error, socket: Socket): void {
  if (!socket.writable) return void socket.destroy()
  socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', () => socket.destroy())
}
