import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readyEvent } from '../connections/connection-limits.ts'
import { SECOND } from '../../kernel/time.ts'

export interface DrainOptions {
  /** How long a connection that has sent nothing yet may take for its first request, in milliseconds. */
  readonly firstRequestMs?: number
}

// Clients that keep connecting must not delay the shutdown; connections that come later are reset. The kernel queues at most
// so many (Node.js listens with this backlog), however slow this process is.
const MAX_ACCEPTED = 511
// The process accepts queued connections once in each turn of the event loop. A second turn without one confirms that the
// queue is empty.
const QUIET_TURNS = 2
const SWEEP_MS = 50

/**
 * Closes an HTTP server without losing a request that a client has sent. The kernel completes connections before the
 * process accepts them, and resets the connections that are still in its queue when the listening socket is closed.
 *
 * Must be created before the server listens.
 */
export class ServerDrain {
  readonly #server: Server
  readonly #firstRequestMs: number
  /** Connections without a request so far: Node.js does not consider them idle. */
  readonly #silent = new Set<Socket>()
  #accepted = 0
  #isDraining = false

  constructor(server: Server, { firstRequestMs = SECOND }: DrainOptions = {}) {
    this.#server = server
    this.#firstRequestMs = firstRequestMs
    server.on('connection', () => this.#accepted++)
    server.on(readyEvent(server), (socket: Socket) => this.#add(socket))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#silent.delete(request.socket)
      if (this.#isDraining) response.setHeader('connection', 'close')
    })
    server.prependListener('upgrade', ({ socket }: IncomingMessage) => this.#silent.delete(socket))
  }

  /**
   * Accepts the connections that the kernel has queued, stops listening, and resolves when every accepted request is
   * answered and every connection is closed. Pass `close` if a framework has to close the server.
   */
  async close(close: () => Promise<unknown> = () => this.#server[Symbol.asyncDispose]()): Promise<void> {
    this.#isDraining = true
    await this.#acceptQueued()
    const limit = setTimeout(() => void this.#destroySilent(), this.#firstRequestMs)
    // A response that began before the drain has no `connection: close`, so its connection would stay open.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS)
    try {
      await close()
    } finally {
      clearTimeout(limit)
      clearInterval(sweep)
    }
    // The last responses are recorded in the turn in which their connections end.
    await nextTurn()
  }

  #add(socket: Socket): void {
    this.#silent.add(socket)
    socket.once('close', () => this.#silent.delete(socket))
  }

  async #acceptQueued(): Promise<void> {
    const until = this.#accepted + MAX_ACCEPTED
    for (let quiet = 0; quiet < QUIET_TURNS && this.#accepted < until;) {
      const before = this.#accepted
      await nextTurn()
      quiet = this.#accepted === before ? quiet + 1 : 0
    }
  }

  async #destroySilent(): Promise<void> {
    // A busy process runs its timers before it reads what has come in the meantime.
    await nextTurn()
    await nextTurn()
    for (const socket of this.#silent) socket.destroy()
  }
}
