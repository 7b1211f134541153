import { systemClock, type WaitingClock } from '../../src/kernel/clock.ts'
import {
  baseUrl,
  openListener,
  runUntilSignal,
  type Listener,
  type MockProgramContext,
  type MockServerDeps,
} from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { AlipayMock } from './alipay.ts'
import { Book } from './book.ts'
import { Callbacks } from './callbacks.ts'
import { readMockPayConfig, type MockPayConfig } from './env.ts'
import type { Channel } from './channels.ts'
import type { Provider } from './provider.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { Script } from './scenarios.ts'
import { openSecrets, testSecrets, type PaySecrets } from './secrets.ts'
import { StripeMock } from './stripe.ts'
import { WechatPayMock } from './wechatpay.ts'
/**
 * `platform mock-pay`: serves until SIGTERM or SIGINT, then resolves. Rejects with a `ValueError` for an invalid
 * variable, and with the system's error when it cannot listen or use the directory for secrets.
 */
export async function runMockPay({ env, stderr }: MockProgramContext): Promise<void> {
  const config = readMockPayConfig(env)
  const secrets = config.secretsDirectory ?? 'test values'
  await runUntilSignal(
    stderr,
    (write) => startMockPay(config, { clock: systemClock, write }),
    ({ port }) => `mock pay listening on ${config.bind}:${port} (secrets=${secrets})`,
  )
}

export interface MockPay extends Pick<Listener, 'port' | 'close'> {
  readonly book: Book
  readonly script: Script
  readonly callbacks: Callbacks
}

/** Unlike the other mocks it waits by this clock: callbacks are repeated after pauses. */
interface MockPayDeps extends MockServerDeps {
  readonly clock: WaitingClock
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockPay(config: MockPayConfig, { clock, write }: MockPayDeps): Promise<MockPay> {
  const secrets = config.secretsDirectory === undefined ? testSecrets() : openSecrets(config.secretsDirectory)
  const { port, abortSignal, isClosing, serve, close } = await openListener(config)
  const script = new Script(config.scenarios)
  const book = new Book(clock)
  const providers = createProviders(book, clock, secrets, baseUrl(config.bind, port))
  const { callbackUrl: url } = config
  const callbacks = new Callbacks({ book, clock, script, url, signal: abortSignal, providers })
  book.onEvent = (event) => callbacks.tell(event)
  const context: HandlerContext = {
    book,
    callbacks,
    clock,
    providers: Object.values(providers),
    script,
    abortSignal,
    isClosing,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  serve((request, response) => void handleRequest(context, request, response))
  return { port, book, script, callbacks, close }
}

function createProviders(
  book: Book,
  clock: WaitingClock,
  secrets: PaySecrets,
  url: string,
): Record<Channel, Provider> {
  const shared = { book, clock, baseUrl: url, pageUrl: (token: string) => `${url}/pay/${token}` }
  return {
    stripe: new StripeMock({ ...shared, secrets: secrets.stripe }),
    wechatpay: new WechatPayMock({ ...shared, secrets: secrets.wechatpay }),
    alipay: new AlipayMock({ ...shared, secrets: secrets.alipay }),
  }
}
