import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMockPayConfig } from '../../../programs/mock-pay/env.ts'
import { startMockPay, type MockPay } from '../../../programs/mock-pay/index.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { fakedClock } from '../../support/jumping-clock.ts'
import { freePort } from '../../support/loopback.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { openEngine, type Engine, type EngineName } from './engine.ts'

export const CHANNELS = [
  ['stripe', 'stripe', ''],
  ['wechat', 'wechatpay', ''],
  ['ali', 'alipay', '/gateway.do'],
] as const

const DAY_MS = 86_400_000
const DAY_MINUTES = 1_440

/** Two apis on one database, with a channel to each provider of a mock; the callbacks come to the first api. */
export interface PaymentShop {
  readonly mock: MockPay
  readonly engine: Engine
  readonly apis: readonly ServedPlatform[]
  /** The ids of payments and refunds for which a customer waits. */
  readonly awaited: Set<string>
  /** Kills an api with SIGKILL and starts it again. */
  restart(index: number): Promise<void>
  /** Moves the clocks of the providers and of the apis a day on; each api is killed for it. */
  passDay(): Promise<void>
}

export async function openPaymentShop(
  scope: AsyncDisposableStack,
  engineName: EngineName,
): Promise<PaymentShop> {
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const ports = [await freePort(), await freePort()]
  const publicUrl = `http://127.0.0.1:${ports[0]}`
  const secrets = join(dataDir, 'secrets')
  const config = readMockPayConfig({
    MOCK_PAY_PORT: '0',
    MOCK_PAY_SECRETS_DIR: secrets,
    MOCK_PAY_CALLBACK_URL: `${publicUrl}/payments/callbacks`,
  })
  let offsetMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + offsetMs }
  const mock = await startMockPay(config, { clock, write: () => undefined })
  scope.defer(() => mock.close(0))
  const tables = CHANNELS.map(
    ([name, kind, path]) =>
      `[payments.channels.${name}]\nkind = "${kind}"\nsecrets_file = "${join(secrets, `pay-${kind}.env`)}"\napi_url = "http://127.0.0.1:${mock.port}${path}"\n`,
  )
  writeFileSync(join(dataDir, 'platform.toml'), `[payments]\npublic_url = "${publicUrl}"\n${tables.join('')}`)
  const serve = async (index: number) => {
    const time = offsetMs > 0 ? fakedClock(DAY_MINUTES) : {}
    const address = { LISTEN_ADDR: `127.0.0.1:${ports[index]}`, API_RATE_LIMIT: '1000000' }
    const env = { ...engine.env, ...time, ...address }
    return scope.use(await servePlatform({ dataDir, modules: 'api', env }))
  }
  const apis = [await serve(0), await serve(1)]
  const restart = async (index: number) => {
    await apis[index]?.kill()
    apis[index] = await serve(index)
  }
  const passDay = async () => {
    offsetMs = DAY_MS
    for (const index of apis.keys()) await restart(index)
  }
  return { mock, engine, apis, awaited: new Set(), restart, passDay }
}
