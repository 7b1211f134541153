import { join } from 'node:path'
import { startMockProgram, type MockProgram } from './mock-program.ts'

const CHANNELS = [
  ['stripe', 'stripe', ''],
  ['wechat', 'wechatpay', ''],
  ['ali', 'alipay', '/gateway.do'],
] as const

export interface PayChannels extends AsyncDisposable {
  readonly mock: MockProgram
  /** What the configuration says of the channels. */
  readonly toml: string
  /** Pays as a customer does, at the address of the payment. */
  pay(url: string): Promise<void>
}

/** A channel of each kind, to a mock of the providers; the first payment by Alipay has another amount. */
export async function startPayChannels(directory: string, publicUrl: string): Promise<PayChannels> {
  const secrets = join(directory, 'secrets')
  const mock = await startMockProgram('mock-pay', {
    cwd: directory,
    env: {
      MOCK_PAY_PORT: '0',
      MOCK_PAY_SECRETS_DIR: secrets,
      MOCK_PAY_CALLBACK_URL: `${publicUrl}/payments/callbacks`,
      MOCK_PAY_SCENARIOS: JSON.stringify([{ channel: 'alipay', on: 'callback', kind: 'wrong_amount' }]),
    },
  })
  const tables = CHANNELS.map(
    ([name, kind, path]) =>
      `[payments.channels.${name}]\nkind = "${kind}"\nsecrets_file = "${join(secrets, `pay-${kind}.env`)}"\napi_url = "${mock.url}${path}"\n`,
  )
  return {
    mock,
    toml: `\n[payments]\npublic_url = "${publicUrl}"\n${tables.join('')}`,
    async pay(url) {
      await fetch(url)
      await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'pay' }) })
    },
    [Symbol.asyncDispose]: () => mock[Symbol.asyncDispose](),
  }
}
