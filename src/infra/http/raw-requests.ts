import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '../../kernel/ids.ts'
import type { ConnectionLimits } from '../connections/connection-limits.ts'
import type { CountClientFault } from './request-log.ts'
import { helpLink } from '../../wire/error-codes.ts'
import type { Answer } from '../../wire/route.ts'
import type { AppError } from '../../kernel/errors.ts'
import { receivedTrace, runInTrace } from '../../kernel/trace.ts'
import { errorAnswer } from './errors.ts'
import { framingFault, requestIdOf } from './request.ts'

type Fault = readonly [status: number, code: string, message: string]

const NOT_HTTP: Fault = [400, 'validation_failed', 'The request is not well-formed HTTP.']
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'
const BY_CODE: Readonly<Record<string, Fault>> = {
  [REQUEST_TIMEOUT]: [408, 'validation_failed', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'validation_failed', 'The headers are too large.'],
}
const NO_TUNNELS: Fault = [405, 'method_not_allowed', 'CONNECT is not for this server.']
const NO_EXPECTATIONS: Fault = [417, 'validation_failed', 'Expect may say 100-continue only.']

/** Answers bytes that are not an HTTP request, behind the answers to those before, and closes the connection. */
export function answerBrokenRequests(limits: ConnectionLimits, countFault: CountClientFault): void {
  const broken = new WeakSet<Duplex>()
  limits.onBroken((error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    // Whatever follows is broken too.
    if (broken.has(socket)) return
    broken.add(socket)
    // While a request is in progress, its own end is counted.
    if (limits.isIdle(socket)) countFault(error.code === REQUEST_TIMEOUT ? 'timeout' : 'not_http')
    socket.pause()
    limits.takeOver(socket, (isAnsweringEarly) => {
      // A second answer would be read as part of the first one.
      if (isAnsweringEarly) return void socket.destroy()
      // Reading again shows when the client closes the connection.
      socket.resume()
      endWithAnswer(socket, toAnswer(BY_CODE[error.code ?? ''] ?? NOT_HTTP))
    })
  })
}

/** Answers requests that Node.js would answer without a body, or not at all. */
export function answerStrayRequests(server: Server, limits: ConnectionLimits): void {
  server.on('connect', ({ socket: connection }: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    limits.takeOver(connection, () => endWithAnswer(socket, toAnswer(NO_TUNNELS)))
  })
  const refuse = limits.inTurn((_request, response) => {
    const { status, headers, body } = toAnswer(NO_EXPECTATIONS)
    response.writeHead(status, headers).end(body)
  })
  server.on('checkExpectation', refuse)
}

function toAnswer([status, code, message]: Fault): RawAnswer {
  return lastAnswer({ status, body: { code, message }, headers: helpLink(code) }, newId())
}

/** An answer in the parts that Node.js writes. */
interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The last answer on a connection, for requests that the framework does not handle. */
function lastAnswer({ status, body, headers }: Answer, requestId: string): RawAnswer {
  const text = JSON.stringify(body)
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(text)),
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      Connection: 'close',
      ...headers,
    },
    body: text,
  }
}

/** Writes an answer to a socket, and ends it. */
function endWithAnswer(socket: Duplex, { status, headers, body }: RawAnswer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** A request to continue in another protocol (RFC 9110, section 7.8), not answered yet. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly socket: Duplex
  /** Bytes that followed the request. */
  readonly head: Buffer
  /** Sends the error as the answer to the request, and closes the connection. */
  refuse(error: AppError): void
}

export interface UpgradeOptions {
  /** The one path that accepts upgrades; elsewhere such a request is like any other. */
  readonly path: string
  /** Takes over the connection, or refuses; must not throw. */
  readonly take: (upgrade: UpgradeRequest) => void
}

/**
 * A function that tests whether Node.js emits a request as `upgrade` instead of `request`; without options never. Its default is to do so for
 * every `Upgrade` header once there is a listener, and a request that nothing answers hangs.
 */
export function webSocketTest(options: UpgradeOptions | undefined): (request: IncomingMessage) => boolean {
  return ({ url = '', headers }) =>
    url.split('?', 1)[0] === options?.path && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Hands over requests for an upgrade, once those before are answered, and refuses badly framed ones. */
export function handOverUpgrades(server: Server, limits: ConnectionLimits, { take }: UpgradeOptions): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A connection that breaks before another listener is there must not end the process.
    socket.on('error', () => socket.destroy())
    const requestId = requestIdOf(request.headers)
    const refuse = (error: AppError) => {
      // Node.js has handed the connection over: it would stay open until the client closes it.
      socket.once('finish', () => socket.destroy())
      endWithAnswer(socket, lastAnswer(errorAnswer(error), requestId))
    }
    limits.takeOver(request.socket, () => {
      if (socket.destroyed) return
      const fault = framingFault(request)
      if (fault) refuse(fault)
      else
        runInTrace(receivedTrace(request.headers), () => take({ request, requestId, socket, head, refuse }))
    })
  })
}
