import { startClients, type Calls, type ClientOptions, type Clients } from './clients.ts'
import { callPlatform } from './platform.ts'
import type { Chance } from './random.ts'

/** The statuses of an order in their sequence. */
const ORDER_STEPS = ['pending', 'paid', 'shipped', 'completed'] as const
export type OrderStep = (typeof ORDER_STEPS)[number]

/** When some of the orders expire. */
export const OVERDUE = '2026-01-01T00:00:00Z'

// After an expiry, and while the platform stops.
const REFUSALS = [409, 503]

/** Starts clients that create orders and move some of them. `acknowledged` has the last status of each order. */
export function startOrderClients({ url, clients, prefix, chance }: ClientOptions): Clients<OrderStep> {
  const createOrder = (orderId: string) => {
    const body = { order_id: orderId, platform: 'storm', amount_cents: 1, ...maybeDue(chance) }
    return callPlatform(url, 'POST', '/orders', { body })
  }
  const moveOrder = (orderId: string, status: OrderStep) =>
    callPlatform(url, 'PUT', `/orders/${orderId}`, { body: { status } })

  const follow = async (calls: Calls<OrderStep>, orderId: string) => {
    if (!(await calls.isAcknowledged(createOrder(orderId)))) return
    calls.acknowledged.set(orderId, 'pending')
    for (const status of ORDER_STEPS.slice(1)) {
      if (calls.isStopping() || chance.number() < 0.5) return
      if (!(await calls.isAcknowledged(moveOrder(orderId, status)))) return
      calls.acknowledged.set(orderId, status)
    }
  }
  return startClients(clients, REFUSALS, (calls, client, number) =>
    follow(calls, `${prefix}-${client}-${number}`),
  )
}

/** Whether an order that was acknowledged in `status` can have the status `now`: only its client and the worker move it. */
export function canHaveBecome(now: string | undefined, status: OrderStep): boolean {
  if (now === 'expired') return status === 'pending'
  return ORDER_STEPS.findIndex((each) => each === now) >= ORDER_STEPS.indexOf(status)
}

/** Some orders are overdue from their creation, so that the worker has orders to expire. */
function maybeDue(chance: Chance): { expires_at?: string } {
  return chance.number() < 0.2 ? { expires_at: OVERDUE } : {}
}
