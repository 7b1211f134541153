import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Writable } from 'node:stream'
import { isIP } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../src/kernel/clock.ts'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type { MockEnvironment } from './variables.ts'

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

/** The parts of the process that a mock program uses. */
export interface MockProgramContext {
  readonly env: MockEnvironment
  readonly stderr: Writable
}

/** The parts of the process that the server of a mock program uses. */
export interface MockServerDeps {
  readonly clock: Clock
  /** Takes the lines of the request log. */
  readonly write: (line: string) => void
}

/** What every request handler of a mock program needs. */
export interface ListenerState {
  /** Aborted when the server closes without waiting any longer. */
  readonly abortSignal: AbortSignal
  readonly isClosing: () => boolean
}

/** A server of a mock program that listens already. */
export interface Listener extends ListenerState {
  /** The port, also when the configured one is 0. */
  readonly port: number
  /** Passes requests to the handler from now on. */
  readonly serve: (handle: RequestListener) => void
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  readonly close: (patienceMs?: number) => Promise<void>
}

/** Rejects with the system's error when the port is in use. */
export async function openListener(
  address: { readonly bind: string; readonly port: number },
  options: ServerOptions = {},
): Promise<Listener> {
  const server = createServer(options)
  const port = await listen(server, address)
  const aborting = new AbortController()
  let closed: Promise<void> | undefined
  return {
    port,
    abortSignal: aborting.signal,
    isClosing: () => !server.listening,
    serve(handle) {
      server.on('request', handle)
      new ConnectionLimits(server)
    },
    close: (patienceMs = STOP_PATIENCE_MS) =>
      (closed ??= shutDown(server, patienceMs, () => aborting.abort())),
  }
}

/** Starts a mock program, prints the line that describes it, and closes it at SIGTERM or SIGINT. */
export async function runUntilSignal<T extends Pick<Listener, 'close'>>(
  stderr: Writable,
  start: (write: (line: string) => void) => Promise<T>,
  describe: (program: T) => string,
): Promise<void> {
  // A client's request must not end the process because its log line cannot be written.
  stderr.on('error', () => undefined)
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  const program = await start((line) => void stderr.write(line))
  stderr.write(`${describe(program)}\n`)
  await stopped
  await program.close()
}

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

/** The base of URLs on this address, with brackets around IPv6 (RFC 3986, section 3.2.2). */
export function baseUrl(address: string, port: number): string {
  return `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}

/** Stops listening, finishes the requests in flight, and aborts the remaining ones after `patienceMs`. */
async function shutDown(server: Server, patienceMs: number, abort: () => void): Promise<void> {
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
