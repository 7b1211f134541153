import { Orders } from '../../src/domains/orders/index.ts'
import type { Order, OrderStatus } from '../../src/domains/orders/index.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import type { PlatformAlert } from '../../src/ports/alerts.ts'
import type { DomainEvent } from '../../src/ports/events.ts'
import type { OrderPayments } from '../../src/ports/payments.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { inTransactions, testStore } from './store.ts'

export const EXPIRY_MS = 15 * MINUTE
export const WANTED = { orderId: 'o-1', platform: 'live', amountCents: 4_990 }

/** A platform without payment channels. */
export const NO_PAYMENTS: OrderPayments = {
  orderLeftPending: () => Promise.resolve(),
  askBeforeExpiry: () => Promise.resolve(),
}

/** The moves that bring a new order into a status. */
const MOVES_TO: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: [],
  paid: ['paid'],
  shipped: ['paid', 'shipped'],
  completed: ['paid', 'completed'],
  expired: ['expired'],
}

/** The orders of an empty database. */
export async function orderWorld(dialect: DialectName, clock: FakeClock = fakeClock()) {
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const events: DomainEvent<Order>[] = []
  const alerts: PlatformAlert[] = []
  const faults = { append: false }
  const service = new Orders({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    expiryMs: EXPIRY_MS,
    events: {
      append: async (tx, event) => {
        if (faults.append) throw new Error('the outbox is full')
        tx.afterCommit(() => events.push(event))
      },
    },
    alerts: { raise: async (tx, alert) => tx.afterCommit(() => alerts.push(alert)) },
    payments: NO_PAYMENTS,
  })
  const orders = inTransactions(store, service, 'create', 'move')
  const orderIn = async (status: OrderStatus, orderId = `in-${status}`) => {
    await orders.create({ ...WANTED, orderId }, 'client')
    for (const next of MOVES_TO[status]) await orders.move(orderId, next, 'client')
    return orders.get(orderId)
  }
  return { store, clock, service, orders, events, alerts, faults, orderIn, [Symbol.asyncDispose]: dispose }
}
