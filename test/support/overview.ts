import { createDomains, routesOf } from '../../src/app/domains.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { OrderStatus } from '../../src/domains/orders/index.ts'
import { rollUpJob } from '../../src/domains/overview/index.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { DAY } from '../../src/kernel/time.ts'
import type { PaymentChannel } from '../../src/ports/payments.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeWaitingClock } from './waiting-clock.ts'
import { inTransactions, testStores } from './store.ts'

const ACTOR = 'client'
const NO_DELIVERY = { wake: () => undefined, waitForSettlement: () => Promise.resolve() }
const NEVER = new AbortController().signal

/** The domains of one process, with its roll-up. */
export function overviewOn(
  store: Store,
  clock: WaitingClock,
  env: Readonly<Record<string, string>> = {},
  channels: ReadonlyMap<string, PaymentChannel> = new Map(),
) {
  const { config } = loadConfig({ env, cwd: '/', systemConfigPath: '/none.toml' })
  const domains = createDomains({
    config,
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    delivery: NO_DELIVERY,
    telemetryDelivery: NO_DELIVERY,
    channels,
    signingKeys: () => [new Secret('a key of the tokens, 32 bytes long')],
  })
  const orders = inTransactions(store, domains.orders.service, 'create', 'move')
  const move = (orderId: string, status: OrderStatus) => orders.move(orderId, status, ACTOR)
  const { rollUp } = domains.overview
  const job = rollUpJob(rollUp)
  return {
    domains,
    rollUp,
    routes: routesOf(domains),
    /** Creates an order and moves it through these statuses. */
    async order(orderId: string, ...moves: OrderStatus[]) {
      await orders.create({ orderId, platform: 'live', amountCents: 100 }, ACTOR)
      for (const status of moves) await move(orderId, status)
    },
    move,
    /** One run of the worker's job. */
    work: () => job.run(NEVER),
    /** The counted part of the series, without the steps that have no data. */
    async known(hours = 1) {
      return (await rollUp.series(hours)).filter((step) => step.created !== null)
    },
  }
}

/** Two processes on an empty database. */
export async function overviewWorld(dialect: DialectName) {
  const clock = fakeWaitingClock()
  const stores = await testStores(dialect, clock)
  const { store, otherStore } = stores
  const world = overviewOn(store, clock)
  return {
    clock,
    store,
    ...world,
    another: overviewOn(otherStore, clock),
    /** Removes the events that there are, as `messages.keep` does a day after they were sent. */
    async loseEvents() {
      const { service: messages } = world.domains.messages
      await messages.settle({ delivered: await messages.pending(100, []), failed: [], refused: [] })
      clock.advance(DAY)
      await messages.prune(clock.now(), 100)
    },
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  }
}
