import { Orders } from '../../src/domains/orders/index.ts'
import type { Order, OrderStatus } from '../../src/domains/orders/index.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import type { OrderPayments } from '../../src/ports/payments.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { FakeClock } from './clock.ts'
import { domainWorld, type domainParts } from './domain-world.ts'
import { inTransactions } from './store.ts'

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

function ordersOf({ deps }: ReturnType<typeof domainParts<Order>>) {
  const faults = { append: false }
  const service = new Orders({
    ...deps,
    expiryMs: EXPIRY_MS,
    events: {
      append: async (tx, event) => {
        if (faults.append) throw new Error('the outbox is full')
        await deps.events.append(tx, event)
      },
    },
    payments: NO_PAYMENTS,
  })
  const orders = inTransactions(deps.store, service, 'create', 'move')
  const orderIn = async (status: OrderStatus, orderId = `in-${status}`) => {
    await orders.create({ ...WANTED, orderId }, 'client')
    for (const next of MOVES_TO[status]) await orders.move(orderId, next, 'client')
    return orders.get(orderId)
  }
  return { service, orders, faults, orderIn }
}

/** The orders of an empty database. */
export function orderWorld(dialect: DialectName, clock?: FakeClock) {
  return domainWorld(dialect, ordersOf, clock)
}
