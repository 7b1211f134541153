import { once } from 'node:events'
import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Resolves with the port, also when the configured one is 0; rejects with the system's error when it is in use. */
export async function listen(
  server: Server,
  { bind, port }: { readonly bind: string; readonly port: number },
): Promise<number> {
  server.listen(port, bind)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}

/** Stops listening, finishes the requests in flight, and aborts the remaining ones after `patienceMs`. */
export async function shutDown(server: Server, patienceMs: number, abort: () => void): Promise<void> {
  await acceptQueued(server)
  const timer = setTimeout(() => {
    abort()
    server.closeAllConnections()
  }, patienceMs)
  server.close()
  await once(server, 'close')
  clearTimeout(timer)
  // A delayed answer whose client has gone has no connection.
  abort()
}

// The default backlog of node:net
const MAX_QUEUED = 511

/**
 * Accepts the connections that the kernel has queued: closing the listener would reset them. libuv accepts one in each
 * turn of the event loop, so the queue is empty after a turn without a new connection.
 */
async function acceptQueued(server: Server): Promise<void> {
  let accepted = 0
  const count = () => void accepted++
  server.on('connection', count)
  let before: number
  do {
    before = accepted
    await nextTurn()
    await nextTurn()
  } while (accepted > before && accepted < MAX_QUEUED)
  server.off('connection', count)
}
