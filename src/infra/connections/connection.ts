import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// docs/specification.md, Limits: requests of a connection that are carried out at once
const MAX_REQUESTS = 8
// docs/specification.md, Limits: a connection with so much unread begins no further request
const MAX_UNSENT_BYTES = 1_048_576

/** A request, and how much of its response has been given to the connection. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
  /** Bytes of the response, in memory until the client reads it. */
  unsentBytes: number
}

/** Called with the change of the bytes that the connection has not sent. */
type CountBytes = (change: number) => void

/**
 * The requests of one connection. Node.js reads 64 KiB at once and emits every request in them, which may be thousands:
 * here a few are carried out, and while one waits, nothing more is parsed or read. What waits when the client leaves is
 * never carried out.
 */
export class Connection {
  readonly socket: Socket
  readonly #countBytes: CountBytes
  /** In the order of the requests, and so of the responses. */
  readonly #begun: Exchange[] = []
  readonly #waiting: Exchange[] = []
  /** Starts the protocol, or the last answer, that follows the requests. */
  #successor: (() => void) | undefined
  #unsentBytes = 0
  #unsentSince = 0
  /** Read behind a request that waits. */
  #unparsed: Buffer | undefined
  readonly #resumed = () => {
    if (this.#waiting.length > 0) {
      this.socket.pause()
      // Node.js stops reading at the event only, which a socket that is paused already does not emit.
      this.socket.emit('pause')
    } else this.#parseOn()
  }
  readonly #drain = () => void this.#begun[0]?.response.emit('drain')

  constructor(socket: Socket, countBytes: CountBytes) {
    this.socket = socket
    this.#countBytes = countBytes
    // Node.js resumes the socket by itself, for the body of a request and when a response was sent.
    socket.on('resume', this.#resumed)
    pauseParserWhen(socket, () => this.#waiting.length > 0)
  }

  /** Responses that were given to the connection and that the client has not read. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Since when the connection has unsent bytes, monotonic. */
  get unsentSince(): number {
    return this.#unsentSince
  }

  get isIdle(): boolean {
    return this.#begun.length === 0
  }

  /** Whether the kernel has not taken everything that was written. */
  get isBlocked(): boolean {
    return this.socket.writableLength > 0 || this.#begun.some(({ response }) => response.writableLength > 0)
  }

  add(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const exchange = { request, response, handle, unsentBytes: 0 }
    if (this.#waiting.length === 0 && this.#mayBegin()) return this.#begin(exchange)
    this.#waiting.push(exchange)
    this.socket.pause()
  }

  /** The parser has stopped at the request that waits. */
  keepUnparsed(pause: ParserPause): void {
    const last = this.#waiting.at(-1)
    if (last) this.#unparsed = completeRequest(this.socket, last.request, pause)
  }

  /** Counts the bytes of a response until the client has read it; `at` is monotonic. */
  hold(response: ServerResponse, bytes: number, at: number): void {
    const exchange = this.#begun.find((begun) => begun.response === response)
    if (!exchange || bytes === 0) return
    if (this.#unsentBytes === 0) this.#unsentSince = at
    exchange.unsentBytes += bytes
    this.#count(bytes)
  }

  /**
   * No more requests come from the socket. Calls back once those that are complete are answered, or when it is closed; then
   * the socket is the caller's.
   */
  takeOver(then: () => void): void {
    this.socket.off('resume', this.#resumed)
    if (this.#isAnswered()) return then()
    this.#successor = then
    // Node.js has removed its own listener.
    this.socket.on('drain', this.#drain)
  }

  /** The response to a request that is still arriving, if it has begun. */
  get isAnsweringEarly(): boolean {
    return this.#begun.some(({ request, response }) => !request.complete && response.headersSent)
  }

  /** The socket is closed: nothing that waits is carried out. */
  close(): void {
    this.#waiting.length = 0
    this.#unparsed = undefined
    for (const { response } of this.#begun.splice(0)) this.#abandon(response)
    this.#count(-this.#unsentBytes)
    this.#succeed()
  }

  #parseOn(): void {
    const bytes = this.#unparsed
    // Node.js pauses again while its own buffer is full.
    if (!bytes || this.socket.isPaused()) return
    this.#unparsed = undefined
    this.socket.emit('data', bytes)
  }

  #mayBegin(): boolean {
    if (this.#begun.length === 0) return true
    if (this.#begun.length >= MAX_REQUESTS) return false
    return this.#begun.reduce((sum, { response }) => sum + response.writableLength, 0) <= MAX_UNSENT_BYTES
  }

  #begin(exchange: Exchange): void {
    this.#begun.push(exchange)
    exchange.response.once('close', () => this.#end(exchange))
    exchange.handle(exchange.request, exchange.response)
  }

  #end(exchange: Exchange): void {
    const at = this.#begun.indexOf(exchange)
    if (at === -1) return
    this.#begun.splice(at, 1)
    this.#count(-exchange.unsentBytes)
    this.#beginWaiting()
    if (this.#successor && this.#isAnswered()) this.#succeed()
  }

  #beginWaiting(): void {
    if (this.#waiting.length === 0) return
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      // Ended by a response that closes the connection, or by the client.
      if (!this.socket.writable) return void (this.#waiting.length = 0)
      this.#begin(this.#waiting.shift() as Exchange)
    }
    if (this.#waiting.length === 0 && !this.#successor) this.socket.resume()
  }

  /** Node.js closes only the response that it is sending; those behind it would never end. */
  #abandon(response: ServerResponse): void {
    if (response.closed || response.writableFinished || response.socket) return
    response.destroy()
    response.emit('close')
  }

  #isAnswered(): boolean {
    return this.#waiting.length === 0 && this.#begun.every(({ request }) => !request.complete)
  }

  #succeed(): void {
    const then = this.#successor
    this.#successor = undefined
    this.socket.off('drain', this.#drain)
    then?.()
  }

  #count(change: number): void {
    if (change === 0) return
    this.#unsentBytes += change
    this.#countBytes(change)
  }
}

/** What the parser of Node.js has besides its documented interface, which cannot stop in the middle of what was read. */
interface Parser {
  onIncoming(request: IncomingMessage, shouldKeepAlive: boolean): number
  execute(bytes: Buffer): unknown
  resume(): void
}

type ParsedSocket = Socket & { readonly parser?: Parser | null }

/** The error that Node.js emits as `clientError` when its parser has stopped. */
interface ParserPause extends Error {
  readonly code: 'HPE_PAUSED'
  readonly bytesParsed: number
  readonly rawPacket: Buffer
}

// llhttp: the value by which a callback stops the parser
const HPE_PAUSED = 21

/** Stops the parser of the socket behind the headers of each request after which `mustWait` returns true. */
function pauseParserWhen(socket: ParsedSocket, mustWait: () => boolean): void {
  const { parser } = socket
  if (!parser) return
  const { onIncoming } = parser
  parser.onIncoming = (request, shouldKeepAlive) => {
    const result = onIncoming(request, shouldKeepAlive)
    return mustWait() ? HPE_PAUSED : result
  }
}

export function isParserPause(error: NodeJS.ErrnoException): error is ParserPause {
  return error.code === 'HPE_PAUSED'
}

/** Completes the request at which the parser has stopped, and returns what follows. */
function completeRequest(
  socket: ParsedSocket,
  { headers }: IncomingMessage,
  { bytesParsed, rawPacket }: ParserPause,
): Buffer {
  const rest = rawPacket.subarray(bytesParsed)
  const ofBody = Math.min(Number(headers['content-length'] ?? 0), rest.length)
  socket.parser?.resume()
  // An incomplete request would be timed out while it waits for the server.
  socket.parser?.execute(rest.subarray(0, ofBody))
  // Node.js reads on behind a complete request.
  socket.pause()
  return rest.subarray(ofBody)
}
