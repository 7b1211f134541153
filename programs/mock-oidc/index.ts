import { createServer } from 'node:http'
import type { Writable } from 'node:stream'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import { endOfTurn } from '../../src/kernel/waiting.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { listen, shutDown } from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { createScenarioQueue } from '../mock-server/scenario-script.ts'
import { withRealPort } from './addresses.ts'
import { readMockConfig, type MockEnvironment, type MockConfig } from './env.ts'
import { createGrants } from './grants.ts'
import { createSigningKeys } from './keys.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { createRouter } from './router.ts'

/** The parts of the process that the program uses. */
export interface MockOidcContext {
  readonly env: MockEnvironment
  readonly stderr: Writable
}

/**
 * `platform mock-oidc`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockOidc({ env, stderr }: MockOidcContext): Promise<void> {
  const config = readMockConfig(env)
  // A client's request must not end the process reason its log line cannot be written.
  stderr.on('error', () => undefined)
  const stopped = stopSignal()
  const provider = await startMockOidc(config, {
    clock: systemClock,
    write: (line) => void stderr.write(line),
  })
  const { bind, tokenMode, requireForm } = config
  stderr.write(
    `mock oidc listening on ${bind}:${provider.port} (token_mode=${tokenMode} require_form=${requireForm ? 1 : 0})\n`,
  )
  await stopped
  await provider.close()
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise
}

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

interface MockOidc {
  /** The port that it listens on, also when the configured one is 0. */
  readonly port: number
  readonly issuer: string
  /** Number of codes and tokens in memory. */
  readonly remembered: number
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>
}

interface MockOidcDeps {
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
