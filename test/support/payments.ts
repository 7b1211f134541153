import { type Payment, Payments, type Reconciliation } from '../../src/domains/payments/index.ts'
import { Reconciliations } from '../../src/domains/payments/reconciliation/service.ts'
import { paymentQueue, refundQueue, setRefundDueAt } from '../../src/domains/payments/store.ts'
import { reconciliationQueue } from '../../src/domains/payments/reconciliation/store.ts'
import { Orders } from '../../src/domains/orders/index.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { DAY, SECOND } from '../../src/kernel/time.ts'
import type { PlatformAlert } from '../../src/ports/alerts.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { Callback, OrderPayments } from '../../src/ports/payments.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { MemoryChannel } from './memory-channel.ts'
import { EXPIRY_MS, WANTED } from './orders.ts'
import { repeatingStore, testStore } from './store.ts'
import { fakeWaitingClock } from './waiting-clock.ts'

const NOTHING_LEFT = { limit: 100, longestPauseMs: 400 * DAY, except: [] }

/** Orders and their payments on a provider in memory, in an empty database. */
export async function paymentWorld(dialect: DialectName, { refundLate = false } = {}) {
  const clock = fakeWaitingClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const channel = new MemoryChannel(clock)
  const other = new MemoryChannel(clock, 'other')
  const world = paymentProcess({ clock, store, channel, other, refundLate, events: [], alerts: [] })
  return { ...world, [Symbol.asyncDispose]: dispose }
}

export interface ProcessParts {
  readonly clock: ReturnType<typeof fakeWaitingClock>
  readonly store: Store
  readonly channel: MemoryChannel
  readonly other: MemoryChannel
  readonly refundLate: boolean
  readonly events: string[]
  readonly alerts: string[]
}

/** One process with orders and payments; several may share a database and the providers. */
export function paymentProcess(parts: ProcessParts) {
  const { clock, store, channel, other, refundLate, events, alerts } = parts
  const append = async (tx: { afterCommit(listener: () => void): void }, { type }: DomainEvent<unknown>) =>
    tx.afterCommit(() => events.push(type))
  const alertBodies: string[] = []
  const raise = async (
    tx: { afterCommit(listener: () => void): void },
    { alarmId, severity, body }: PlatformAlert,
  ) =>
    tx.afterCommit(() => {
      alerts.push(`${alarmId} ${severity}`)
      alertBodies.push(body)
    })
  const base = { store, clock, logger: silentLogger, metrics: noMetrics }
  const lazy: OrderPayments = {
    orderLeftPending: (tx, id) => payments.orderLeftPending(tx, id),
    askBeforeExpiry: (ids) => payments.askBeforeExpiry(ids),
  }
  const orders = new Orders({
    ...base,
    expiryMs: EXPIRY_MS,
    events: { append },
    alerts: { raise },
    payments: lazy,
  })
  const deps = {
    ...base,
    events: { append: append as (tx: never, event: DomainEvent<Payment | Reconciliation>) => Promise<void> },
    alerts: {
      raise: raise as never,
      recoverIfRaised: (async (tx: never, alert: PlatformAlert) => {
        const firing = alerts.filter((each) => each.startsWith(`${alert.alarmId} `)).at(-1)
        if (firing !== undefined && !firing.endsWith('CLOSE'))
          await raise(tx, { ...alert, severity: 'CLOSE' })
      }) as never,
    },
    orders,
    channels: new Map([channel, other].map((each) => [each.name, each])),
    currency: 'CNY',
    refundLate,
    timeZone: 'Asia/Shanghai',
    reconcileAt: '10:30',
  }
  const payments = new Payments({
    ...deps,
    wakePayments: () => undefined,
    wakeRefunds: () => undefined,
  })
  const reconciliations = new Reconciliations({
    ...deps,
    channel: (name) => payments.channel(name),
    wake: () => undefined,
  })
  const { write } = repeatingStore(store)
  const claimOf = () => ({
    ...NOTHING_LEFT,
    holder: 'test',
    now: clock.now(),
    until: clock.now() + 30 * SECOND,
  })
  return {
    ...base,
    orders,
    payments,
    reconciliations,
    channel,
    other,
    events,
    alerts,
    alertBodies,
    write,
    /** A new payment of a new order, as after the answer of the provider. */
    async open(orderId = 'o-1', { name } = channel) {
      await write((tx) => orders.create(tx, { ...WANTED, orderId }, 'shop'))
      const { payment } = await write((tx) => payments.create(tx, { orderId, channel: name }, 'shop'))
      return payments.complete(payment.id)
    },
    receive: (callback: Callback) => write((tx) => payments.callbacks.receive(tx, channel.name, callback)),
    /** What the runner does with payments that are due now. */
    async runDue() {
      for (const payment of await store.write((tx) => paymentQueue.claim(tx, claimOf()))) {
        const outcome = await payments.askProvider(payment)
        await store.write(async (tx) => {
          await paymentQueue.release(tx, payment, { holder: 'test', dueAt: null })
          await payments.states.applyOutcome(tx, payment.id, outcome, 'worker')
          await payments.states.plan(tx, payment.id, payment.attempts)
        })
      }
    },
    async runRefunds() {
      for (const refund of await store.write((tx) => refundQueue.claim(tx, claimOf()))) {
        const state = await payments.refunds.askProvider(refund)
        await store.write(async (tx) => {
          await refundQueue.release(tx, refund, { holder: 'test', dueAt: null })
          if (state) await payments.refunds.apply(tx, refund.channel, refund.number, state, 'worker')
          await setRefundDueAt(tx, refund.id, await payments.refunds.dueAfter(tx, refund, refund.attempts))
        })
      }
    },
    async runReconciliations() {
      for (const row of await store.write((tx) => reconciliationQueue.claim(tx, claimOf()))) {
        const result = await reconciliations.run(row, undefined)
        await store.write(async (tx) => {
          await reconciliationQueue.release(tx, row, { holder: 'test', dueAt: null })
          await reconciliations.finish(tx, row, result)
        })
      }
    },
    soon: () => clock.advance(90 * SECOND),
  }
}
