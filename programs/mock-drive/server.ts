import { createServer } from 'node:http'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import { listen, shutDown } from '../mock-server/listener.ts'
import { createScenarioQueue } from '../mock-server/scenario-script.ts'
import { baseUrl } from './addresses.ts'
import { openMockDrive } from './drive.ts'
import type { MockDriveConfig } from './env.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { createRequestLog } from '../mock-server/request-log.ts'

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

const IDLE_MS = 2 * MINUTE

export interface MockDriveServer {
  /** The port that it listens on, also when the configured one is 0. */
  readonly port: number
  /** A new refresh token, as after a person has authorised the application again. */
  authorise(): string
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>
}

export interface MockDriveDeps {
  readonly clock: Clock
  /** Takes the lines of the request log. */
  readonly write: (line: string) => void
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockDrive(
  config: MockDriveConfig,
  { clock, write }: MockDriveDeps,
): Promise<MockDriveServer> {
  const drive = openMockDrive(config, clock)
  // A part may take as long as its client needs, and a client may pause between two parts.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: IDLE_MS })
  const port = await listen(server, config)
  const aborting = new AbortController()
  const context: HandlerContext = {
    drive,
    baseUrl: baseUrl(config.bind, port),
    scenarios: createScenarioQueue(config.scenarios),
    abortSignal: aborting.signal,
    isClosing: () => !server.listening,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  server.on('request', (request, response) => handleRequest(context, request, response))
  new ConnectionLimits(server)
  let closed: Promise<void> | undefined
  return {
    port,
    authorise: () => drive.tokens.issueRefreshToken(),
    close: (patienceMs = STOP_PATIENCE_MS) =>
      (closed ??= shutDown(server, patienceMs, () => aborting.abort())),
  }
}
