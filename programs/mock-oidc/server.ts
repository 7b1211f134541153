import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../src/kernel/clock.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { withRealPort } from './addresses.ts'
import type { MockConfig } from './env.ts'
import { createGrants } from './grants.ts'
import { createSigningKeys } from './keys.ts'
import { createRequestLog } from './request-log.ts'
import { createRouter } from './router.ts'
import { createScenarioQueue } from './scenario-script.ts'
import { serve, type Desk } from './serve.ts'
import { createTurn } from './turn.ts'

// contract, section 1: what is in flight is finished, within 10 s
const STOP_PATIENCE_MS = 9 * SECOND

export interface MockOidc {
  /** The real one. */
  readonly port: number
  readonly issuer: string
  /** How many codes and tokens are remembered. */
  readonly remembered: number
  /** Finishes what is in flight, and cuts what takes longer than that; may be called twice. */
  close(patienceMs?: number): Promise<void>
}

export interface MockOidcDeps {
  readonly clock: Clock
  /** Takes the lines of the request log. */
  readonly write: (line: string) => void
}

/** Listens, and answers until it is closed. Rejects when the port cannot be had. */
export async function startMockOidc(config: MockConfig, { clock, write }: MockOidcDeps): Promise<MockOidc> {
  const server = createServer()
  const port = await listen(server, config)
  const issuer = withRealPort(config.issuer, port)
  const grants = createGrants(clock)
  const cutting = new AbortController()
  const desk: Desk = {
    provider: {
      config,
      issuer,
      clock,
      grants,
      keys: createSigningKeys(),
      userJson: JSON.stringify(config.user),
    },
    route: createRouter(issuer),
    scenarios: createScenarioQueue(config.scenarios),
    cut: cutting.signal,
    isClosing: () => !server.listening,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  const atItsEnd = createTurn()
  server.on('request', (request, response) => atItsEnd(() => serve(desk, request, response)))
  let closed: Promise<void> | undefined
  return {
    port,
    issuer,
    get remembered() {
      return grants.size
    },
    close: (patienceMs = STOP_PATIENCE_MS) => (closed ??= closeWithin(patienceMs, server, cutting)),
  }
}

async function listen(server: Server, { bind, port }: MockConfig): Promise<number> {
  server.listen(port, bind)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}

async function closeWithin(patienceMs: number, server: Server, cutting: AbortController): Promise<void> {
  await acceptQueued(server)
  const timer = setTimeout(() => {
    cutting.abort()
    server.closeAllConnections()
  }, patienceMs)
  server.close()
  await once(server, 'close')
  clearTimeout(timer)
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
