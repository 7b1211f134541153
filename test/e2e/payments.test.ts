import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DAY } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'
import { startMockProgram } from '../support/mock-program.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'

const CHANNELS = [
  { name: 'stripe', kind: 'stripe', path: '' },
  { name: 'wechat', kind: 'wechatpay', path: '' },
  { name: 'ali', kind: 'alipay', path: '/gateway.do' },
] as const

const SCENARIOS = [{ channel: 'wechatpay', on: 'create', kind: '500' }]

/** A report of Stripe with a payment that is not here. */
const REPORT = `reporting_category,customer_facing_amount,charge_id,source_id,payment_metadata[platform_payment],refund_metadata[platform_refund]
charge,12.34,ch_1,ch_1,${'0'.repeat(32)},
`

interface Payment {
  readonly id: string
  readonly status: string
  readonly action: { readonly url: string } | null
}

/** A platform with the three channels of the mock, which answers as the scenarios say. */
async function openShop(stack: AsyncDisposableStack) {
  const { path: dataDir } = stack.use(temporaryDirectory())
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const mock = stack.use(
    await startMockProgram('mock-pay', {
      cwd: dataDir,
      env: {
        MOCK_PAY_PORT: '0',
        MOCK_PAY_SECRETS_DIR: join(dataDir, 'secrets'),
        MOCK_PAY_CALLBACK_URL: `${publicUrl}/payments/callbacks`,
        MOCK_PAY_SCENARIOS: JSON.stringify(SCENARIOS),
      },
    }),
  )
  const tables = CHANNELS.map(
    ({ name, kind, path }) =>
      `[payments.channels.${name}]\nkind = "${kind}"\nsecrets_file = "${join(dataDir, 'secrets', `pay-${kind}.env`)}"\napi_url = "${mock.url}${path}"\n`,
  )
  writeFileSync(join(dataDir, 'platform.toml'), `[payments]\npublic_url = "${publicUrl}"\n${tables.join('')}`)
  const platform = stack.use(await servePlatform({ dataDir, env: { LISTEN_ADDR: `127.0.0.1:${port}` } }))
  return { dataDir, mock, platform }
}

// What the mock says of a payer, in answers, callbacks and bills.
const PAYER = [
  'payer@example.com',
  'Pat Payer',
  'openid_of_the_payer',
  'account of the payer',
  'pat***@example',
]

/** Of the payer, and every line of the keys and value of the secrets. */
function secretWords(directory: string): readonly string[] {
  const values = readdirSync(directory).flatMap((name) => {
    const lines = readFileSync(join(directory, name), 'utf8').split('\n')
    return name.endsWith('.env') ? lines.filter(isSecretLine).map((line) => line.split('=')[1] ?? '') : lines
  })
  const long = values.filter((value) => value.length >= 16 && !value.includes('-----'))
  assert.ok(long.length > 20)
  return [...PAYER, ...long]
}

// The others are names of an account or of files.
const isSecretLine = (line: string) => /^(STRIPE_\w+|WECHATPAY_APIV3_KEY)=/.test(line)

/** The log, the database with its write-ahead log, and a backup of it. */
async function everythingWritten(dataDir: string, platform: ServedPlatform): Promise<Buffer> {
  assert.equal((await runPlatform(['data', 'backup'], { dataDir })).code, 0)
  const files = [...globSync('platform.db*', { cwd: dataDir }), ...globSync('backups/*.db', { cwd: dataDir })]
  assert.ok(files.length >= 2, files.join())
  const logs = Buffer.from(JSON.stringify(platform.logs()) + platform.stderr())
  return Buffer.concat([logs, ...files.map((file) => readFileSync(join(dataDir, file)))])
}

const yesterday = () =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(Date.now() - DAY)

test('orders are paid, refunded and reconciled through each provider', async () => {
  await using stack = new AsyncDisposableStack()
  const { dataDir, platform } = await openShop(stack)
  const json = async <T>(method: string, path: string, body?: unknown) => {
    const response = await platform.call(method, path, body === undefined ? {} : { body })
    return { status: response.status, body: (await response.json()) as T }
  }
  for (const { name } of CHANNELS) {
    await json('POST', '/orders', { order_id: `o-${name}`, platform: 'live', amount_cents: 4_990 })
    const created = await json<Payment>('POST', `/orders/o-${name}/payments`, { channel: name })
    // The first answer of WeChat Pay is an error; the runner repeats the call.
    assert.equal(created.status, name === 'wechat' ? 202 : 201)
    const { id } = created.body
    const url = await eventually(`${name}: where to pay`, async () => {
      const { body } = await json<Payment>('POST', `/orders/o-${name}/payments`, { channel: name })
      assert.equal(body.id, id)
      return body.action?.url
    })
    await fetch(url, { method: 'GET' })
    await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'pay' }) })
    await eventually(`${name}: the order is paid`, async () => {
      const order = await json<{ status: string }>('GET', `/orders/o-${name}`)
      return order.body.status === 'paid'
    })
    const refund = await json('POST', `/payments/${id}/refunds`, { amount_cents: 990, reason: 'broken' })
    assert.equal(refund.status, 202)
    await eventually(`${name}: the refund`, async () => {
      const { body } = await json<{ refunded_cents: number }>('GET', `/payments/${id}`)
      return body.refunded_cents === 990
    })
  }
  await json('POST', '/orders', { order_id: 'o-closed', platform: 'live', amount_cents: 4_990 })
  const open = await json<Payment>('POST', '/orders/o-closed/payments', { channel: 'stripe' })
  const closed = await json<{ status: string }>('POST', `/payments/${open.body.id}/close`)
  assert.equal(closed.body.status, 'closed')
  const trail = await json<{ items: { operation: string; outcome: string }[] }>(
    'GET',
    `/audit?target=payment:${open.body.id}`,
  )
  assert.deepEqual(
    trail.body.items.map(({ operation, outcome }) => [operation, outcome]),
    [['closePayment', 'done']],
  )
  const date = yesterday()
  writeFileSync(join(dataDir, 'report.csv'), REPORT)
  const reconcile = (...args: string[]) => runPlatform(['payments', 'reconcile', ...args], { dataDir })
  for (const { name } of CHANNELS) {
    const { code, stdout, stderr } = await reconcile('--channel', name, '--date', date)
    assert.deepEqual([code, stdout, stderr], [0, `${name} ${date}: matched; 0 matched, 0 differ\n`, ''])
  }
  const differs = await reconcile('--channel', 'stripe', '--date', date, '--file', 'report.csv')
  assert.deepEqual(
    [differs.code, differs.stdout],
    [
      1,
      `stripe ${date}: differs; 0 matched, 1 differ\nmissing_here payment ${'0'.repeat(32)}: here nothing, there succeeded 1234 cents\n`,
    ],
  )
  const everywhere = await everythingWritten(dataDir, platform)
  for (const word of secretWords(join(dataDir, 'secrets')))
    assert.ok(!everywhere.includes(word), `no secret and nothing of the payer: ${word.slice(0, 12)}…`)
  for (const args of [
    ['--channel', 'nobody', '--date', date],
    ['--channel', 'ali', '--date', 'today'],
    ['--channel', 'ali', '--date', '2026-02-30'],
    ['--channel', 'ali', '--date', date, '--file', 'nowhere.csv'],
    ['--channel', 'ali'],
  ])
    assert.equal((await reconcile(...args)).code, 2, args.join(' '))
})

test('a channel that cannot work is named, and nothing starts', async () => {
  using directory = temporaryDirectory()
  const file = join(directory.path, 'platform.toml')
  const channel = (lines: string) =>
    `[payments]\npublic_url = "https://shop.example.org"\n${lines}\n[payments.channels.wechat]\nkind = "wechatpay"\nsecrets_file = "nowhere.env"\n`
  for (const [lines, message] of [
    ['', /nowhere\.env/],
    ['currency = "USD"', /payments\.channels\.wechat.*CNY|CNY.*payments\.channels\.wechat/s],
    ['currency = "JPY"', /payments\.currency/],
  ] as const) {
    writeFileSync(file, channel(lines))
    const { code, stderr } = await runPlatform(['serve'], { dataDir: directory.path })
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
})
