import { connect } from 'node:net'
import type { BusServer } from './servers.ts'

const GREETING_MS = 3_000

/**
 * Resolves once the server has sent its greeting, rejects with the reason why not.
 *
 * The client leaves its socket open when a server accepts but never speaks (a stopped process, a black hole behind a
 * balancer), and a first connect cannot be called off. Knocking first keeps sockets bounded and a shutdown prompt.
 */
export function awaitGreeting(server: BusServer, signal: AbortSignal): Promise<void> {
  const greeting = Promise.withResolvers<void>()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(GREETING_MS)])
  const socket = connect({ host: server.host, port: server.port })
  const giveUp = () =>
    greeting.reject(new Error(`no greeting from ${server.address} within ${GREETING_MS / 1_000} s`))
  socket.once('data', () => greeting.resolve())
  socket.once('error', (error: NodeJS.ErrnoException) => {
    // A host name with several addresses gives one error for all, without a message.
    greeting.reject(
      new Error(`${server.address} cannot be reached: ${error.code ?? error.message}`, { cause: error }),
    )
  })
  socket.once('end', () => greeting.reject(new Error(`${server.address} hung up`)))
  limit.addEventListener('abort', giveUp, { once: true })
  if (limit.aborted) giveUp()
  return greeting.promise.finally(() => {
    limit.removeEventListener('abort', giveUp)
    socket.destroy()
  })
}
