import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { newId } from '../../kernel/ids.ts'
import { endWithAnswer, lastAnswer, type RawAnswer } from './raw-answer.ts'

type Fault = readonly [status: number, code: string, message: string]

const NOT_HTTP: Fault = [400, 'validation_failed', 'The request is not well-formed HTTP.']
const BY_CODE: Readonly<Record<string, Fault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'validation_failed', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: [431, 'validation_failed', 'The headers are too large.'],
}
const NO_TUNNELS: Fault = [405, 'method_not_allowed', 'CONNECT is not for this server.']
const NO_EXPECTATIONS: Fault = [417, 'validation_failed', 'Expect may say 100-continue only.']

/** Answers bytes that are not an HTTP request, and closes the connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  endWithAnswer(socket, toAnswer(BY_CODE[error.code ?? ''] ?? NOT_HTTP))
}

/** Answers requests that Node.js would answer without a body, or not at all. */
export function answerStrayRequests(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endWithAnswer(socket, toAnswer(NO_TUNNELS))
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = toAnswer(NO_EXPECTATIONS)
    response.writeHead(status, headers).end(body)
  })
}

function toAnswer([status, code, message]: Fault): RawAnswer {
  return lastAnswer({ status, body: { code, message } }, newId())
}
