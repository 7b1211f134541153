import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SECOND } from '../../kernel/time.ts'

export interface DrainOptions {
  /** How long a connection that has sent nothing yet may take for its first request, in milliseconds. */
  readonly firstRequestMs?: number
}

// While clients keep connecting there is always one more to accept; then the last ones see a reset.
const MAX_ACCEPT_MS = SECOND
// The kernel reports its queue once per turn of the event loop; a second look costs nothing.
const QUIET_TURNS = 2
const SWEEP_MS = 50

/**
 * Closes an HTTP server without losing a request that a client has sent. The kernel completes connections before the
 * process accepts them, and resets the connections that are still in its queue when the listening socket is closed.
 *
 * To be made before the server listens.
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
    server.on('connection', (socket: Socket) => this.#add(socket))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#silent.delete(request.socket)
      if (this.#isDraining) response.setHeader('connection', 'close')
    })
    server.prependListener('upgrade', ({ socket }: IncomingMessage) => this.#silent.delete(socket))
  }

  /**
   * Accepts what the kernel has queued, stops listening, and resolves when every accepted request is answered and every
   * connection closed. `close` closes the server; to be given when a framework has to do it.
   */
  async close(close: () => Promise<unknown> = () => closed(this.#server)): Promise<void> {
    this.#isDraining = true
    await this.#acceptQueued()
    const limit = setTimeout(() => this.#destroySilent(), this.#firstRequestMs)
    // A connection whose answer had begun before would be kept alive after it.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS)
    try {
      await close()
    } finally {
      clearTimeout(limit)
      clearInterval(sweep)
    }
  }

  #add(socket: Socket): void {
    this.#accepted++
    this.#silent.add(socket)
    socket.once('close', () => this.#silent.delete(socket))
  }

  async #acceptQueued(): Promise<void> {
    const until = performance.now() + MAX_ACCEPT_MS
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < until;) {
      const before = this.#accepted
      await nextTurn()
      quiet = this.#accepted === before ? quiet + 1 : 0
    }
  }

  #destroySilent(): void {
    for (const socket of this.#silent) socket.destroy()
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()))
  })
}
