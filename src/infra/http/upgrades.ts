import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '../../kernel/errors.ts'
import { errorAnswer } from './errors.ts'
import { framingFault } from './framing.ts'
import { endWithAnswer, lastAnswer } from './raw-answer.ts'
import { requestIdOf } from './request-id.ts'

/** A request to go on in another protocol, before it was answered. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly socket: Duplex
  /** What was sent behind the request already. */
  readonly head: Buffer
  /** Answers as any other request is answered, and ends the connection. */
  refuse(error: AppError): void
}

export interface UpgradeOptions {
  /** The one path where it may be asked for; elsewhere such a request is like any other. */
  readonly path: string
  /** Takes the connection over, or refuses; must not throw. */
  readonly take: (upgrade: UpgradeRequest) => void
}

/** Whether Node.js hands a request over as one for another protocol. */
export function asksForWebSocket({ path }: UpgradeOptions): (request: IncomingMessage) => boolean {
  return ({ url = '', headers }) =>
    url.split('?', 1)[0] === path && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Hands over the requests for another protocol that are well framed. */
export function handOverUpgrades(server: Server, { take }: UpgradeOptions): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A connection that breaks before somebody else listens must not end the process.
    socket.on('error', () => socket.destroy())
    const requestId = requestIdOf(request.headers)
    const refuse = (error: AppError) => {
      // Node.js counts the connection no longer, so it would stay open for as long as the other side likes.
      socket.once('finish', () => socket.destroy())
      endWithAnswer(socket, lastAnswer(errorAnswer(error), requestId))
    }
    const fault = framingFault(request)
    if (fault) refuse(fault)
    else take({ request, requestId, socket, head, refuse })
  })
}
