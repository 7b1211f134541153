import { createServer } from 'node:http'
import type { Writable } from 'node:stream'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import { listen, shutDown } from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { createScenarioQueue } from '../mock-server/scenario-script.ts'
import { baseUrl } from './addresses.ts'
import { openMockDrive } from './drive.ts'
import { readMockDriveConfig, type MockDriveEnvironment, type MockDriveConfig } from './env.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'

/** The parts of the process that the program uses. */
export interface MockDriveContext {
  readonly env: MockDriveEnvironment
  readonly stderr: Writable
}

/**
 * `platform mock-drive`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockDrive({ env, stderr }: MockDriveContext): Promise<void> {
  const config = readMockDriveConfig(env)
  // A client's request must not end the process because its log line cannot be written.
  stderr.on('error', () => undefined)
  const stopped = stopSignal()
  const server = await startMockDrive(config, {
    clock: systemClock,
    write: (line) => void stderr.write(line),
  })
  const storage = config.directory === undefined ? 'memory' : 'directory'
  stderr.write(`mock drive listening on ${config.bind}:${server.port} (storage=${storage})\n`)
  await stopped
  await server.close()
}

function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  return promise
}

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

const IDLE_MS = 2 * MINUTE

interface MockDriveServer {
  /** The port that it listens on, also when the configured one is 0. */
  readonly port: number
  /** A new refresh token, as after a person has authorised the application again. */
  authorise(): string
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>
}

interface MockDriveDeps {
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
