import { systemClock } from '../../src/kernel/clock.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import {
  baseUrl,
  openListener,
  runUntilSignal,
  type Listener,
  type MockProgramContext,
  type MockServerDeps,
} from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { ScenarioQueue } from '../mock-server/scenario-script.ts'
import { openMockDrive } from './drive.ts'
import { readMockDriveConfig, type MockDriveConfig } from './env.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'

/**
 * `platform mock-drive`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockDrive({ env, stderr }: MockProgramContext): Promise<void> {
  const config = readMockDriveConfig(env)
  const storage = config.directory === undefined ? 'memory' : 'directory'
  await runUntilSignal(
    stderr,
    (write) => startMockDrive(config, { clock: systemClock, write }),
    ({ port }) => `mock drive listening on ${config.bind}:${port} (storage=${storage})`,
  )
}

const IDLE_MS = 2 * MINUTE

interface MockDriveServer extends Pick<Listener, 'port' | 'close'> {
  /** A new refresh token, as after a person has authorised the application again. */
  authorise(): string
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockDrive(
  config: MockDriveConfig,
  { clock, write }: MockServerDeps,
): Promise<MockDriveServer> {
  const drive = openMockDrive(config, clock)
  // A part may take as long as its client needs, and a client may pause between two parts.
  const { port, abortSignal, isClosing, serve, close } = await openListener(config, {
    requestTimeout: 0,
    keepAliveTimeout: IDLE_MS,
  })
  const context: HandlerContext = {
    drive,
    baseUrl: baseUrl(config.bind, port),
    scenarios: new ScenarioQueue(config.scenarios),
    abortSignal,
    isClosing,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  serve((request, response) => handleRequest(context, request, response))
  return { port, close, authorise: () => drive.tokens.issueRefreshToken() }
}
