import { createServer } from 'node:http'
import { ConnectionLimits } from '../../src/infra/connections/connection-limits.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { listen, shutDown } from '../mock-server/listener.ts'
import { createRequestLog } from '../mock-server/request-log.ts'
import { AlipayMock } from './alipay.ts'
import { Book } from './book.ts'
import { Callbacks } from './callbacks.ts'
import type { MockPayConfig } from './env.ts'
import type { Channel } from './channels.ts'
import type { Provider } from './provider.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'
import { Script } from './scenarios.ts'
import { openSecrets, testSecrets, type PaySecrets } from './secrets.ts'
import { StripeMock } from './stripe.ts'
import { WechatPayMock } from './wechatpay.ts'

// Requests in flight are finished within 10 s of the signal.
const STOP_PATIENCE_MS = 9 * SECOND

export interface MockPay {
  /** The port that it listens on, also when the configured one is 0. */
  readonly port: number
  readonly book: Book
  readonly script: Script
  readonly callbacks: Callbacks
  /** Finishes the requests in flight, and aborts them after `patienceMs`. Idempotent. */
  close(patienceMs?: number): Promise<void>
}

export interface MockPayDeps {
  readonly clock: WaitingClock
  /** Takes the lines of the request log. */
  readonly write: (line: string) => void
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export async function startMockPay(config: MockPayConfig, { clock, write }: MockPayDeps): Promise<MockPay> {
  const secrets = config.secretsDirectory === undefined ? testSecrets() : openSecrets(config.secretsDirectory)
  const server = createServer()
  const port = await listen(server, config)
  const aborting = new AbortController()
  const script = new Script(config.scenarios)
  const book = new Book(clock)
  const providers = createProviders(book, clock, secrets, baseUrl(config.bind, port))
  const { callbackUrl: url } = config
  const callbacks = new Callbacks({ book, clock, script, url, signal: aborting.signal, providers })
  book.onEvent = (event) => callbacks.tell(event)
  const context: HandlerContext = {
    book,
    callbacks,
    clock,
    providers: Object.values(providers),
    script,
    abortSignal: aborting.signal,
    isClosing: () => !server.listening,
    log: config.log ? createRequestLog(clock, write) : undefined,
  }
  server.on('request', (request, response) => void handleRequest(context, request, response))
  new ConnectionLimits(server)
  let closed: Promise<void> | undefined
  const close = (patienceMs = STOP_PATIENCE_MS) =>
    (closed ??= shutDown(server, patienceMs, () => aborting.abort()))
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

function baseUrl(bind: string, port: number): string {
  return `http://${bind.includes(':') ? `[${bind}]` : bind}:${port}`
}
