import { connect } from 'node:net'
import type { BusServer } from './servers.ts'

const GREETING_MS = 3_000

/**
 * Resolves once the server has sent its greeting; rejects with the reason otherwise.
 *
 * A first connect of the client cannot be aborted. If a server accepts connections but sends nothing (a stopped
 * process, a load balancer without a backend), the client would delay a shutdown; this connection does not.
 */
export function awaitGreeting(server: BusServer, signal: AbortSignal): Promise<void> {
  const greeting = Promise.withResolvers<void>()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(GREETING_MS)])
  const socket = connect({ host: server.host, port: server.port })
  const rejectLate = () =>
    greeting.reject(new Error(`no greeting from ${server.address} within ${GREETING_MS / 1_000} s`))
  socket.once('data', () => greeting.resolve())
  socket.once('error', (error: NodeJS.ErrnoException) => {
    // A host name with several addresses gives one error for all, without a message.
    greeting.reject(
      new Error(`${server.address} cannot be reached: ${error.code ?? error.message}`, { cause: error }),
    )
  })
  socket.once('end', () =>
    greeting.reject(new Error(`${server.address} closed the connection without a greeting`)),
  )
  limit.addEventListener('abort', rejectLate, { once: true })
  if (limit.aborted) rejectLate()
  return greeting.promise.finally(() => {
    limit.removeEventListener('abort', rejectLate)
    socket.destroy()
  })
}
