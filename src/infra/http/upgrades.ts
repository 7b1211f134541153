import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppError } from '../../kernel/errors.ts'
import type { ConnectionLimits } from '../connections/connection-limits.ts'
import { receivedTrace, runInTrace } from '../../kernel/trace.ts'
import { errorAnswer } from './errors.ts'
import { framingFault, requestIdOf } from './request.ts'
import { endWithAnswer, lastAnswer } from './broken-requests.ts'

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
 * Whether Node.js emits a request as `upgrade` instead of `request`; without options never. Its default is to do so for
 * every `Upgrade` header once there is a listener, and a request that nothing answers hangs.
 */
export function asksForWebSocket(options: UpgradeOptions | undefined): (request: IncomingMessage) => boolean {
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
