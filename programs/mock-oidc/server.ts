import { createServer } from 'node:http'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { endOfTurn } from '../../src/kernel/end-of-turn.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { listen, shutDown } from '../mock-server/listener.ts'
import { createScenarioQueue } from '../mock-server/scenario-script.ts'
import { withRealPort } from './addresses.ts'
import type { MockConfig } from './env.ts'
import { createGrants } from './grants.ts'
import { createSigningKeys } from './keys.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { createRouter } from './router.ts'

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

export interface MockOidc {
  /** The port that it listens on, also when the configured one is 0. */
  readonly port: number
  readonly issuer: string
  /** Number of codes and tokens in memory. */
  readonly remembered: number
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>
}

export interface MockOidcDeps {
  readonly clock: Clock
  /** Takes the lines of the request log. */
  readonly write: (line: string) => void
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockOidc(config: MockConfig, { clock, write }: MockOidcDeps): Promise<MockOidc> {
  const server = createServer()
  const port = await listen(server, config)
  const issuer = withRealPort(config.issuer, port)
  const grants = createGrants(clock)
  const aborting = new AbortController()
  const context: HandlerContext = {
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
    abortSignal: aborting.signal,
    isClosing: () => !server.listening,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  server.on('request', (request, response) => {
    void endOfTurn().then(() => handleRequest(context, request, response))
  })
  new ConnectionLimits(server)
  let closed: Promise<void> | undefined
  return {
    port,
    issuer,
    get remembered() {
      return grants.size
    },
    close: (patienceMs = STOP_PATIENCE_MS) =>
      (closed ??= shutDown(server, patienceMs, () => aborting.abort())),
  }
}
