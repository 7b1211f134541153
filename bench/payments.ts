import { once } from 'node:events'
import { createWriteStream, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { readMockPayConfig } from '../programs/mock-pay/env.ts'
import { startMockPay, type MockPay } from '../programs/mock-pay/index.ts'
import { TRADE_BILL_HEADER, TRADE_BILL_TOTALS } from '../programs/mock-pay/wechatpay.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { freePort } from '../test/support/loopback.ts'
import { AnswerReader } from './support/answer-reader.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase } from './support/database.ts'
import { rateOf, requireSuccess } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { CONNECTIONS, postOrders } from './support/order-load.ts'
import { SOURCE, startPlatform } from './support/platform-server.ts'
import { runToEnd, type ProgramRun } from './support/program-run.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'

/** What a callback that pays an order costs beside the creation of one, and what a large bill costs. */
export const payments: Bench = {
  name: 'payments',
  title: 'P19: payments',
  summary: 'callbacks that pay an order beside POST /orders, and a bill of a million rows',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const generator = stack.use(startLoadGenerator())
    const shop = await openShop(stack)
    const orders: Contestant<Sample> = {
      name: 'orders',
      run: async (forMs) => requireSuccess('orders', await generator.apply(postOrders(shop.port), forMs)),
    }
    const callbacks = CHANNELS.map(([kind]): Contestant<Sample> => ({
      name: kind,
      run: (forMs) => payOrders(shop, kind, forMs),
    }))
    const rounds = await interleave([orders, ...callbacks], options)
    options.onSlice('writing a bill')
    const bill = await writeBill(stack, options.small ? 1_000 : BILL_ROWS)
    // A bill takes longer than any slice.
    const readers: Contestant<ProgramRun>[] = [
      { name: 'parsed', run: () => runToEnd([process.execPath, READER, bill.path]) },
      { name: 'reconciled', run: () => reconcile(bill) },
    ]
    const bills = await interleave(readers, {
      ...options,
      rounds: Math.min(options.rounds, BILL_ROUNDS),
      small: true,
    })
    return [...measuresOf(rounds), ...billMeasuresOf(bills)]
  },
}

const CHANNELS = [
  ['stripe', ''],
  ['wechatpay', ''],
  ['alipay', '/gateway.do'],
] as const
type Kind = (typeof CHANNELS)[number][0]

const ADMIN = { 'x-user-id': 'bench', 'x-user-roles': 'admin', 'content-type': 'application/json' }
const READER = join(import.meta.dirname, 'servers/read-bill.ts')
const BILL_ROWS = 1_000_000
const BILL_ROUNDS = 3
// More than any machine has taken so far; a slice ends early when they are used up.
const PREPARED_EACH_SECOND = 1_500
const PREPARED_AT_ONCE = 32

interface Sample {
  /** A second. */
  readonly rate: number
}

interface Shop {
  readonly port: number
  readonly mock: MockPay
  /** The callbacks that the providers have sent since the last call, as requests for the platform. */
  take(): Promise<Buffer[]>
}

/** A platform whose providers are a mock; their callbacks are kept here until they are sent under load. */
async function openShop(stack: AsyncDisposableStack): Promise<Shop> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  let kept: Buffer[] = []
  const desk = createServer((request, response) => {
    void buffer(request).then((body) => {
      kept.push(toRequest(port, request.url ?? '', request.headers, body))
      // What each of the three takes for an acknowledgement.
      response.end(request.url?.endsWith('alipay') ? 'success' : '')
    })
  }).listen(0, '127.0.0.1')
  await once(desk, 'listening')
  stack.defer(() => desk.close().closeAllConnections())
  const secrets = join(dataDir, 'secrets')
  const config = readMockPayConfig({
    MOCK_PAY_PORT: '0',
    MOCK_PAY_SECRETS_DIR: secrets,
    MOCK_PAY_CALLBACK_URL: `http://127.0.0.1:${(desk.address() as AddressInfo).port}/payments/callbacks`,
  })
  const mock = await startMockPay(config, { clock: systemClock, write: () => undefined })
  stack.defer(() => mock.close(0))
  writeConfiguration(dataDir, port, secrets, mock.port)
  stack.use(await startPlatform({ dataDir, port }))
  const take = async () => {
    await mock.callbacks.settled()
    const taken = kept
    kept = []
    return taken
  }
  return { port, mock, take }
}

function writeConfiguration(dataDir: string, port: number, secrets: string, mockPort: number): void {
  const channels = CHANNELS.map(
    ([kind, path]) =>
      `[payments.channels.${kind}]\nkind = "${kind}"\nsecrets_file = "${join(secrets, `pay-${kind}.env`)}"\napi_url = "http://127.0.0.1:${mockPort}${path}"\n`,
  )
  const toml = `[payments]\npublic_url = "http://127.0.0.1:${port}"\n${channels.join('')}`
  writeFileSync(join(dataDir, 'platform.toml'), toml)
}

const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

function toRequest(port: number, path: string, headers: IncomingHttpHeaders, body: Buffer): Buffer {
  const kept = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name))
  const lines = [...kept, ['host', `127.0.0.1:${port}`], ['content-length', String(body.length)]]
  const head = lines.map(([name, value]) => `${String(name)}: ${String(value)}\r\n`).join('')
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`), body])
}

let lastOrder = 0

/** Makes orders with a payment each, lets their payers pay, and measures only the callbacks. */
async function payOrders(shop: Shop, kind: Kind, forMs: number): Promise<Sample> {
  const wanted = Math.ceil((forMs / 1_000) * PREPARED_EACH_SECOND)
  for (let left = wanted; left > 0; left -= PREPARED_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(left, PREPARED_AT_ONCE) }, () => openPayment(shop, kind)))
  for (const payment of shop.mock.book.payments())
    if (payment.channel === kind && payment.status === 'open') shop.mock.book.act(payment, 'pay')
  return sendAll(shop.port, await shop.take(), forMs)
}

async function openPayment({ port }: Shop, channel: Kind): Promise<void> {
  const orderId = `paid-${++lastOrder}`
  await post(port, '/orders', { order_id: orderId, platform: 'live', amount_cents: 4_990 })
  await post(port, `/orders/${orderId}/payments`, { channel })
}

async function post(port: number, path: string, body: unknown): Promise<void> {
  const request = { method: 'POST', headers: ADMIN, body: JSON.stringify(body) }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, request)
  const answered = await answer.text()
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${answered}`)
}

/** Sends each request once, over as many connections as any load. */
async function sendAll(port: number, requests: readonly Buffer[], forMs: number): Promise<Sample> {
  const begin = performance.now()
  let next = 0
  let answered = 0
  const keepBusy = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const send = () => {
        const request = performance.now() - begin < forMs ? requests[next++] : undefined
        if (request) return void socket.write(request)
        socket.destroy()
        resolve()
      }
      const reader = new AnswerReader((status) => {
        if (status >= 300) return void socket.destroy(new Error(`a callback was answered with ${status}`))
        answered++
        send()
      })
      socket.once('connect', send).once('error', reject)
      socket.on('data', (chunk: Buffer) => reader.read(chunk))
    })
  await Promise.all(Array.from({ length: CONNECTIONS }, keepBusy))
  return { rate: answered / ((performance.now() - begin) / 1_000) }
}

const DATE = '2026-01-02'
// The day of the bill begins in Beijing; a million payments are spread over it.
const PAID_AT = Date.UTC(2026, 0, 1, 16)
const PAID_EVERY_MS = 86

interface Bill {
  readonly dataDir: string
  readonly path: string
}

/** A bill of WeChat Pay with a row for each payment of a database. */
async function writeBill(stack: AsyncDisposableStack, rows: number): Promise<Bill> {
  const { path: dataDir } = stack.use(diskDirectory())
  const secrets = join(dataDir, 'secrets')
  // Only for its secrets.
  const mock = await startMockPay(readMockPayConfig({ MOCK_PAY_PORT: '0', MOCK_PAY_SECRETS_DIR: secrets }), {
    clock: systemClock,
    write: () => undefined,
  })
  await mock.close(0)
  writeConfiguration(dataDir, 1, secrets, 1)
  const port = await freePort()
  await (await startPlatform({ dataDir, port }))[Symbol.asyncDispose]()
  using database = openDatabase(dataDir)
  database.exec(`begin; ${PAYMENTS(rows)}; commit`)
  const path = join(dataDir, 'bill.csv')
  const file = createWriteStream(path)
  file.write(`${TRADE_BILL_HEADER}\r\n`)
  for (let n = 1; n <= rows; n++) if (!file.write(billRow(numberOf(n)))) await once(file, 'drain')
  file.end(`${TRADE_BILL_TOTALS}\r\n\`${rows},\`${rows * 49.9},\`0.00,\`0.00,\`0.00,\`0.00,\`0.00\r\n`)
  await finished(file)
  return { dataDir, path }
}

const numberOf = (n: number) => n.toString(16).padStart(32, '0')

const PAYMENTS = (rows: number) => `
  with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
  insert into payments (id, order_id, channel, status, amount_cents, currency, number, provider_id, paid_cents,
    refunded_cents, reserved_cents, created_at, created_by, paid_at, parameters, is_closing, attempts, queued_at)
  select printf('%032x', n), printf('o-%d', n), 'wechatpay', 'paid', 4990, 'CNY', printf('%032x', n), printf('42%026d', n),
    4990, 0, 0, ${PAID_AT}, 'bench', ${PAID_AT} + n * ${PAID_EVERY_MS}, '', 0, 0, ${PAID_AT} from numbers`

function billRow(number: string): string {
  const cells = [
    '2026-01-02 08:00:00',
    'wxbench',
    '1900000001',
    '0',
    '',
    `42${number.slice(-26)}`,
    number,
    'payer',
    'NATIVE',
    'SUCCESS',
    'OTHERS',
    'CNY',
    '49.90',
    '0.00',
    '0',
    '0',
    '0.00',
    '0.00',
    '',
    '',
    'Order',
    '',
    '0.30',
    '0.60%',
    '49.90',
    '0.00',
    '',
  ]
  return `${cells.map((cell) => `\`${cell}`).join(',')}\r\n`
}

async function reconcile({ dataDir, path }: Bill): Promise<ProgramRun> {
  const command = ['payments', 'reconcile', '--channel', 'wechatpay', '--date', DATE, '--file', path]
  return runToEnd([...SOURCE, ...command], dataDir, { HOME: dataDir, DATA_DIR: dataDir })
}

// docs/performance.md, P19: payments
const HMAC = { must: { atLeast: 0.5 } }
const RSA = { must: { atLeast: 0.35 } }
const MEMORY = { must: { atMost: 200 } }
const TIME = { must: { atMost: 2 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  return CHANNELS.map(([kind]) => ({
    what: `callbacks of ${kind} that pay an order ÷ POST /orders`,
    values: ratio(rounds, kind, 'orders', rateOf),
    ...(kind === 'stripe' ? HMAC : RSA),
  }))
}

function billMeasuresOf(rounds: readonly Round<ProgramRun>[]): Measure[] {
  return [
    {
      what: 'a bill of a million rows: peak memory of its reconciliation',
      unit: 'MB',
      values: figures(rounds, 'reconciled', ({ peakMegabytes: peak }) => peak),
      ...MEMORY,
    },
    {
      what: 'time of its reconciliation ÷ reading and parsing it',
      values: ratio(rounds, 'reconciled', 'parsed', ({ seconds }) => seconds),
      ...TIME,
    },
  ]
}
