import { systemClock } from '../../src/kernel/clock.ts'
import { endOfTurn } from '../../src/kernel/waiting.ts'
import {
  openListener,
  runUntilSignal,
  type Listener,
  type MockProgramContext,
  type MockServerDeps,
} from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { ScenarioQueue } from '../mock-server/scenario-script.ts'
import { withRealPort } from './addresses.ts'
import { readMockConfig, type MockConfig } from './env.ts'
import { Grants } from './grants.ts'
import { SigningKeys } from './keys.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { createRouter } from './router.ts'

/**
 * `platform mock-oidc`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen.
 */
export async function runMockOidc({ env, stderr }: MockProgramContext): Promise<void> {
  const config = readMockConfig(env)
  const { bind, tokenMode, requireForm } = config
  await runUntilSignal(
    stderr,
    (write) => startMockOidc(config, { clock: systemClock, write }),
    ({ port }) =>
      `mock oidc listening on ${bind}:${port} (token_mode=${tokenMode} require_form=${requireForm ? 1 : 0})`,
  )
}

interface MockOidc extends Pick<Listener, 'port' | 'close'> {
  readonly issuer: string
  /** Number of codes and tokens in memory. */
  readonly remembered: number
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockOidc(config: MockConfig, { clock, write }: MockServerDeps): Promise<MockOidc> {
  const { port, abortSignal, isClosing, serve, close } = await openListener(config)
  const issuer = withRealPort(config.issuer, port)
  const grants = new Grants(clock)
  const context: HandlerContext = {
    provider: {
      config,
      issuer,
      clock,
      grants,
      keys: new SigningKeys(),
      userJson: JSON.stringify(config.user),
    },
    route: createRouter(issuer),
    scenarios: new ScenarioQueue(config.scenarios),
    abortSignal,
    isClosing,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  serve((request, response) => {
    void endOfTurn().then(() => handleRequest(context, request, response))
  })
  return {
    port,
    issuer,
    get remembered() {
      return grants.size
    },
    close,
  }
}
