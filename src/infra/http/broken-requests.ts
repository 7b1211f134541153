import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '../../kernel/ids.ts'
import type { ConnectionLimits } from '../connections/connection-limits.ts'
import type { CountClientFault } from './request-log.ts'
import { helpLink } from '../../wire/error-codes.ts'
import type { Answer } from '../../wire/route.ts'

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
    // Otherwise the request that broke off is counted.
    if (limits.isIdle(socket)) countFault(error.code === REQUEST_TIMEOUT ? 'timeout' : 'not_http')
    socket.pause()
    limits.takeOver(socket, (isAnsweringEarly) => {
      // A second answer would be read as part of the first one.
      if (isAnsweringEarly) return void socket.destroy()
      // To see that the client closes the connection.
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
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The last answer on a connection, for requests that the framework does not handle. */
export function lastAnswer({ status, body, headers }: Answer, requestId: string): RawAnswer {
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
export function endWithAnswer(socket: Duplex, { status, headers, body }: RawAnswer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
