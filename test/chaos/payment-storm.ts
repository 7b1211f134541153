import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { MockPayment } from '../../programs/mock-pay/book.ts'
import { readMockPayConfig } from '../../programs/mock-pay/env.ts'
import { startMockPay, type MockPay } from '../../programs/mock-pay/server.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, type Engine, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const ORDERS_EACH_ROUND = 6
const CENTS = 4_990
const MAX_RUN_MS = 600
const PATIENCE = { timeoutMs: 180_000 }
const CHANNELS = [
  ['stripe', 'stripe', ''],
  ['wechat', 'wechatpay', ''],
  ['ali', 'alipay', '/gateway.do'],
] as const
const FAULTS = ['twice', 'out_of_order', 'early', 'bad_signature'] as const

export const paymentKills: Scenario = {
  name: 'payment-kills',
  row: 'R-33',
  promise: 'kill -9 of two apis loses no payment, pays no order twice and refunds nothing twice',
  unit: 'kills of an api',
  // A thousand payments on each engine.
  rounds: { short: 3, brief: 20, full: 334 },
  parts: [
    { title: 'on SQLite', share: 0.5, run: (trial) => killApis(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.5, run: (trial) => killApis(trial, 'postgres') },
  ],
}

interface Shop {
  readonly mock: MockPay
  readonly serve: (index: number) => Promise<ServedPlatform>
  readonly engine: Engine
}

/** Two apis on one database; the callbacks come to the first. */
async function openShop({ scope }: Trial, engineName: EngineName): Promise<Shop> {
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
  const mock = await startMockPay(config, { clock: systemClock, write: () => undefined })
  scope.defer(() => mock.close(0))
  const tables = CHANNELS.map(
    ([name, kind, path]) =>
      `[payments.channels.${name}]\nkind = "${kind}"\nsecrets_file = "${join(secrets, `pay-${kind}.env`)}"\napi_url = "http://127.0.0.1:${mock.port}${path}"\n`,
  )
  writeFileSync(join(dataDir, 'platform.toml'), `[payments]\npublic_url = "${publicUrl}"\n${tables.join('')}`)
  const serve = async (index: number) =>
    scope.use(
      await servePlatform({
        dataDir,
        modules: 'api',
        env: { ...engine.env, LISTEN_ADDR: `127.0.0.1:${ports[index]}` },
      }),
    )
  return { mock, serve, engine }
}

async function killApis(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, wantsMore, signal, show, chance } = trial
  const { mock, serve, engine } = await openShop(trial, engineName)
  const apis = [await serve(0), await serve(1)]
  let kills = 0
  const work: Promise<void>[] = []
  for (let round = 0; wantsMore(round); round++) {
    signal.throwIfAborted()
    show(`kill ${round + 1} of ${rounds}`)
    for (let each = 0; each < ORDERS_EACH_ROUND; each++) {
      const [, kind] = chance.pick(CHANNELS)
      if (chance.between(0, 1) === 0)
        mock.script.add({ channel: kind, on: 'callback', kind: chance.pick(FAULTS), delayMs: 5 })
      work.push(serveCustomer(apis, mock, `o-${round}-${each}`, each))
    }
    await pause(chance.between(0, MAX_RUN_MS))
    const index = chance.between(0, 1)
    await apis[index]?.kill()
    kills++
    apis[index] = await serve(index)
  }
  await Promise.all(work)
  return requireOutcome(engine, mock, kills)
}

/** An order with its payment; two of three are paid, and every third of them is refunded. */
async function serveCustomer(
  apis: readonly ServedPlatform[],
  mock: MockPay,
  orderId: string,
  index: number,
): Promise<void> {
  const [channel] = CHANNELS[index % CHANNELS.length] ?? CHANNELS[0]
  const send = (path: string, body: unknown) => sendUntilAnswered(apis, path, body, `${orderId} ${path}`)
  await send('/orders', { order_id: orderId, platform: 'live', amount_cents: CENTS })
  const { id, number } = (await send(`/orders/${orderId}/payments`, { channel })) as {
    id: string
    number: string
  }
  if (index % 3 === 2) return
  const booked = await eventually(
    `the payment of ${orderId} at the provider`,
    () => mock.book.payments().find((each) => each.number === number),
    PATIENCE,
  )
  mock.book.act(booked, 'pay')
  if (index % 3 !== 0) return
  await eventually(
    `${orderId} is paid`,
    async () =>
      ((await readJson(apis, `/payments/${id}`)) as { status?: string } | undefined)?.status === 'paid',
    PATIENCE,
  )
  await send(`/payments/${id}/refunds`, { reason: 'broken' })
}

/** A caller repeats its request under one key until there is an answer, at either api. */
async function sendUntilAnswered(apis: readonly ServedPlatform[], path: string, body: unknown, key: string) {
  let tries = 0
  return eventually(
    `an answer to ${key}`,
    async () => {
      const api = apis[tries++ % apis.length]
      const headers = { 'idempotency-key': key }
      const answer = await api?.call('POST', path, { body, headers }).catch(() => undefined)
      if (!answer || answer.status >= 500) return undefined
      const text = await answer.text().catch(() => undefined)
      if (text === undefined) return undefined
      assert.ok(answer.status < 300, `${path}: ${answer.status} ${text}`)
      return JSON.parse(text) as unknown
    },
    PATIENCE,
  )
}

async function readJson(apis: readonly ServedPlatform[], path: string): Promise<unknown> {
  for (const api of apis) {
    const answer = await api.call('GET', path).catch(() => undefined)
    if (answer?.status === 200) return answer.json().catch(() => undefined)
  }
  return undefined
}

async function requireOutcome(engine: Engine, mock: MockPay, kills: number): Promise<Figures> {
  const unsettled = () =>
    engine.count(
      `select (select count(*) from payments where status = 'creating') + (select count(*) from payment_refunds where status = 'pending')`,
    )
  await eventually('everything to be settled', async () => (await unsettled()) === 0, PATIENCE)
  const there = mock.book.payments()
  const paidThere = there.filter(({ paidAt }) => paidAt !== undefined)
  const paidHere = `select count(*) from payments p join orders o on o.order_id = p.order_id
    where p.status = 'paid' and o.status = 'paid' and p.attention is null`
  await eventually(
    'each payment to be paid here',
    async () => (await engine.count(paidHere)) === paidThere.length,
    PATIENCE,
  )
  const rows = await engine.rows('select number, status from payments')
  const statusOf = new Map(rows.map(({ number, status }) => [number, status]))
  assert.equal(rows.length, there.length, 'one payment there for each here')
  for (const { number, paidAt } of there)
    assert.equal(statusOf.get(number) === 'paid', paidAt !== undefined, number)
  assert.equal(await engine.count(`select count(*) from orders where status = 'paid'`), paidThere.length)
  const refundedTwice = there.filter(({ refunds }: MockPayment) => refunds.length > 1).length
  assert.equal(refundedTwice, 0, 'nothing is refunded twice')
  const refunds = there.filter((each) => each.refunds.length > 0).length
  assert.equal(await engine.count(`select count(*) from payment_refunds where status = 'succeeded'`), refunds)
  const events = `select count(*) from messages where subject = 'payment.paid'`
  assert.equal(await engine.count(events), paidThere.length, 'one event for each')
  return {
    kills,
    payments: there.length,
    paid: paidThere.length,
    refunds,
    lost: 0,
    'paid or refunded twice': 0,
  }
}
