import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Operation } from '../../programs/mock-pay/provider.ts'
import type { ScenarioKind } from '../../programs/mock-pay/scenarios.ts'
import { eventually } from '../support/eventually.ts'
import { missingFaketime } from '../support/jumping-clock.ts'
import type { EngineName } from './support/engine.ts'
import { daysOf, requireBooks, settle } from './support/payment-books.ts'
import { PLANS, serveCustomer } from './support/payment-customers.ts'
import { CHANNELS, openPaymentShop, type PaymentShop } from './support/payment-shop.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const ORDERS_EACH_ROUND = 60
const MAX_RUN_MS = 600
const HASTEN_EVERY_MS = 2_000
const CALL_FAULTS_EACH_ROUND = 36
const CALLBACK_FAULTS_EACH_ROUND = 36
const KILLS_OF_RECONCILIATION = 3
const PATIENCE = { timeoutMs: 120_000 }
// One answer in ten is slower than the platform waits for it.
const DELAYS_MS = [5, 5, 5, 50, 50, 50, 500, 500, 500, 11_000]
const DELAYS_OF_SHORT_FORM_MS = [5, 50, 500]
const SHORT_FORM = 2

/** What a provider does wrong with a call: before its effect, after it, or slowly. */
const CALL_FAULTS: Readonly<Record<Exclude<Operation, 'bill' | 'callback'>, readonly ScenarioKind[]>> = {
  create: ['429', '500', 'reset', 'reset_before', 'slow', 'early'],
  query: ['429', '500', 'reset', 'reset_before', 'slow'],
  close: ['429', '500', 'reset', 'reset_before', 'slow', 'late'],
  refund: ['429', '500', 'reset', 'reset_before', 'slow'],
}
const OPERATIONS = Object.keys(CALL_FAULTS) as (keyof typeof CALL_FAULTS)[]
/** Most are lost: a call whose answer is lost, too, must be asked for. */
const CALLBACK_FAULTS: readonly ScenarioKind[] = [
  'lost',
  'lost',
  'lost',
  'delay',
  'twice',
  'out_of_order',
  'bad_signature',
  'old_timestamp',
]

export const paymentStorm: Scenario = {
  name: 'payment-storm',
  row: 'R-33',
  promise:
    'whatever providers do, kill -9 of two apis loses no payment, takes none twice, and makes each refund once',
  unit: 'kills of an api',
  // A thousand orders for each channel on each engine.
  rounds: { short: 2 * SHORT_FORM, brief: 20, full: 100 },
  parts: [
    { title: 'on SQLite', share: 0.5, run: (trial) => storm(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.5, run: (trial) => storm(trial, 'postgres') },
  ],
  unsupported: missingFaketime,
}

async function storm(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, wantsMore, scope, signal, show, chance } = trial
  const shop = await openPaymentShop(scope, engineName)
  const customers: Promise<number>[] = []
  const stopHastening = keepHastening(shop)
  scope.defer(stopHastening)
  let kills = 0
  for (; wantsMore(kills); kills++) {
    signal.throwIfAborted()
    show(`kill ${kills + 1} of ${rounds}`)
    addFaults(shop, trial)
    for (let each = 0; each < ORDERS_EACH_ROUND; each++) {
      const orderId = `o-${kills}-${each}`
      const served = serveCustomer(shop, {
        orderId,
        channel: chance.pick(CHANNELS),
        plan: chance.pick(PLANS),
      })
      // The end waits for all.
      served.catch(() => undefined)
      customers.push(served)
    }
    await pause(chance.between(0, MAX_RUN_MS))
    await shop.restart(chance.between(0, 1))
  }
  show('the last customers')
  shop.mock.script.clear()
  const refunds = (await Promise.all(customers)).reduce((sum, each) => sum + each, 0)
  await stopHastening()
  // A callback that is held back comes after the next one of its provider.
  for (const channel of CHANNELS)
    await serveCustomer(shop, { orderId: `last-${channel[0]}`, channel, plan: 'pay' })
  await hasten(shop)
  await settle(shop)
  const figures = await requireBooks(shop, refunds)
  show('reconciliation')
  return { kills: kills + KILLS_OF_RECONCILIATION, ...figures, ...(await reconcile(shop, trial)) }
}

function addFaults({ mock }: PaymentShop, { chance, rounds }: Trial): void {
  const delays = rounds > SHORT_FORM ? DELAYS_MS : DELAYS_OF_SHORT_FORM_MS
  const add = (on: Operation, kinds: readonly ScenarioKind[]) => {
    const [, channel] = chance.pick(CHANNELS)
    mock.script.add({ channel, on, kind: chance.pick(kinds), delayMs: chance.pick(delays) })
  }
  for (let each = 0; each < CALL_FAULTS_EACH_ROUND; each++) {
    const on = chance.pick(OPERATIONS)
    add(on, CALL_FAULTS[on])
  }
  for (let each = 0; each < CALLBACK_FAULTS_EACH_ROUND; each++) add('callback', CALLBACK_FAULTS)
}

/** What is asked for later is asked for now: the pauses have tests of their own. */
async function hasten({ engine }: PaymentShop, ids?: readonly string[]): Promise<void> {
  const isOne = ids ? `and id in (${ids.map((id) => `'${id}'`).join(', ')})` : ''
  for (const table of ['payments', 'payment_refunds'])
    await engine.change(
      `update ${table} set due_at = ${Date.now()} where due_at is not null and lease_holder is null ${isOne}`,
    )
}

/** Every two seconds, what a customer waits for: a callback may be lost. Returns what stops it. */
function keepHastening(shop: PaymentShop): () => Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const run = async () => {
    while (!signal.aborted) {
      if (shop.awaited.size > 0) await hasten(shop, [...shop.awaited])
      await pause(HASTEN_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  const running = run()
  return () => {
    over.abort()
    return running
  }
}

/** A day later each day of each channel matches, although the bills come with faults and the apis are killed meanwhile. */
async function reconcile(shop: PaymentShop, { chance }: Trial): Promise<Figures> {
  const days = daysOf(shop.mock)
  await shop.passDay()
  const runs = days.flatMap((date) => CHANNELS.map(([channel, kind]) => ({ channel, kind, date })))
  for (const { kind: channel } of runs)
    shop.mock.script.add({ channel, on: 'bill', kind: chance.pick(CALL_FAULTS.query), delayMs: 500 })
  const matching = untilAllMatch(shop, runs)
  await pause(chance.between(0, MAX_RUN_MS))
  await shop.restart(chance.between(0, 1))
  const matched = await matching
  const rows = await shop.engine.count(
    `select (select count(*) from payments where status = 'paid') +
      (select count(*) from payment_refunds where status = 'succeeded')`,
  )
  assert.equal(matched, rows, 'each payment and refund matches once')
  return { reconciled: matched, differences: 0 }
}

interface Day {
  readonly channel: string
  readonly date: string
}

async function untilAllMatch(shop: PaymentShop, days: readonly Day[]): Promise<number> {
  let matched = 0
  for (const day of days) matched += await untilMatched(shop, day)
  return matched
}

/** Asks for a reconciliation until one has matched; returns how many rows of it matched. */
async function untilMatched({ apis, engine }: PaymentShop, { channel, date }: Day): Promise<number> {
  const newest = `select status, matched from payment_reconciliations
    where channel = '${channel}' and date = '${date}' order by seq desc limit 1`
  return eventually(
    `${channel} matches on ${date}`,
    async () => {
      const [row] = await engine.rows(newest)
      assert.notEqual(row?.['status'], 'differs')
      if (row?.['status'] === 'matched') return Number(row['matched'])
      if (row?.['status'] !== 'running')
        for (const api of apis)
          await api
            .call('POST', '/payments/reconciliations', { body: { channel, date } })
            .catch(() => undefined)
      return undefined
    },
    PATIENCE,
  )
}
