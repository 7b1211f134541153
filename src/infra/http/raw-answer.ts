import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Answer } from '../../wire/route.ts'

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
