import { createPublicKey } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from '../../programs/mock-server/listener.ts'
import { readMockPayConfig } from '../../programs/mock-pay/env.ts'
import type { MockEnvironment } from '../../programs/mock-server/variables.ts'
import type { Channel } from '../../programs/mock-pay/channels.ts'
import type { Operation } from '../../programs/mock-pay/provider.ts'
import type { ScenarioKind } from '../../programs/mock-pay/scenarios.ts'
import { TEST_VALUES } from '../../programs/mock-pay/secrets.ts'
import { startMockPay, type MockPay } from '../../programs/mock-pay/index.ts'
import { TEST_PRIVATE_KEY } from '../../programs/mock-pay/test-key.ts'
import { createAlipay } from '../../src/infra/payments/alipay/index.ts'
import { createStripe } from '../../src/infra/payments/stripe/index.ts'
import { createWechatPay } from '../../src/infra/payments/wechatpay/index.ts'
import type { ChannelSettings, PaymentChannel } from '../../src/ports/payments.ts'
import { fakeClock, type FakeClock } from './clock.ts'

export interface ReceivedCallback {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface PayWorld extends AsyncDisposable {
  readonly mock: MockPay
  readonly url: string
  readonly clock: FakeClock
  readonly channel: PaymentChannel
  readonly settings: ChannelSettings
  /** The channel of an installation with another currency. */
  inCurrency(currency: string): PaymentChannel
  /** What the platform was sent. */
  readonly received: ReceivedCallback[]
  /** The lines of the request log. */
  readonly log: string[]
  /** The next status of the platform's answers; then the regular one of the channel. */
  answerNext(status: number): void
  script(on: Operation, kind: ScenarioKind): void
  /** All callbacks that were sent until now. */
  callbacks(): Promise<readonly ReceivedCallback[]>
}

const FACTORIES = { stripe: createStripe, wechatpay: createWechatPay, alipay: createAlipay }

const PEMS = (prefix: string) => ({
  [`${prefix}_PRIVATE_KEY`]: TEST_PRIVATE_KEY,
  [`${prefix}_PUBLIC_KEY`]: String(createPublicKey(TEST_PRIVATE_KEY).export({ type: 'spki', format: 'pem' })),
})

/** The settings of a channel whose provider is a mock with the documented test values. */
function mockChannelSettings(kind: Channel, url: string): ChannelSettings {
  const keys = kind === 'stripe' ? {} : PEMS(kind.toUpperCase())
  return {
    name: kind,
    kind,
    apiUrl: kind === 'alipay' ? `${url}/gateway.do` : url,
    currency: 'CNY',
    callbackUrl: `https://shop.example.org/payments/callbacks/${kind}`,
    secrets: { ...TEST_VALUES[kind], ...keys },
  }
}

/** A mock of the providers in this process, a channel that uses it, and a platform that only notes its callbacks. */
export async function openPayWorld(kind: Channel, env: MockEnvironment = {}): Promise<PayWorld> {
  const received: ReceivedCallback[] = []
  const log: string[] = []
  const statuses: number[] = []
  const platform = createServer((request, response) => {
    void buffer(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      const { status, body: text } = channel.acknowledgement
      response.writeHead(statuses.shift() ?? status).end(text)
    })
  })
  const port = await listen(platform, { bind: '127.0.0.1', port: 0 })
  const clock = fakeClock()
  const config = readMockPayConfig({
    MOCK_PAY_PORT: '0',
    MOCK_PAY_CALLBACK_URL: `http://127.0.0.1:${port}/payments/callbacks`,
    ...env,
  })
  const waiting = { ...clock, wait: async () => undefined }
  const mock = await startMockPay(config, { clock: waiting, write: (line) => void log.push(line) })
  const url = `http://127.0.0.1:${mock.port}`
  const settings = mockChannelSettings(kind, url)
  const channel = FACTORIES[kind](settings, { clock })
  return {
    mock,
    url,
    clock,
    channel,
    settings,
    inCurrency: (currency) => FACTORIES[kind]({ ...settings, currency }, { clock }),
    received,
    log,
    answerNext: (status) => void statuses.push(status),
    script: (on, scenario) => mock.script.add({ channel: kind, on, kind: scenario, delayMs: 1 }),
    async callbacks() {
      await mock.callbacks.settled()
      return received
    },
    async [Symbol.asyncDispose]() {
      await channel.end()
      await mock.close(0)
      platform.closeAllConnections()
      platform.close()
    },
  }
}
