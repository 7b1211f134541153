import { callPlatform } from './platform.ts'
import type { Chance } from './random.ts'

/** The statuses of an order in their sequence. */
const ORDER_STEPS = ['pending', 'paid', 'shipped', 'completed'] as const
export type OrderStep = (typeof ORDER_STEPS)[number]

export interface OrderClients {
  /** The last acknowledged status of each order. */
  readonly acknowledged: ReadonlyMap<string, OrderStep>
  /** Responses other than an acknowledgement, 409 after an expiry, and 503 during a stop. */
  readonly unexpected: readonly string[]
  /** Stops after the current calls; resolves immediately when the server is gone. */
  stop(): Promise<void>
}

export interface OrderClientOptions {
  readonly url: string
  readonly clients: number
  /** The prefix of all order ids; must be unique for each load on a database. */
  readonly prefix: string
  readonly chance: Chance
}

/** Starts clients that create orders and move some of them, one call after the other, until they are stopped. */
export function startOrderClients({ url, clients, prefix, chance }: OrderClientOptions): OrderClients {
  const acknowledged = new Map<string, OrderStep>()
  const unexpected: string[] = []
  let stopping = false

  /** Whether the platform acknowledged the call. Rejects when the connection breaks: the result is unknown then. */
  const isAcknowledged = async (call: () => Promise<Response>): Promise<boolean> => {
    const answer = await call()
    const body = await answer.text()
    if (answer.ok) return true
    if (answer.status !== 503 && answer.status !== 409) unexpected.push(`${answer.status} ${body}`)
    return false
  }

  const follow = async (orderId: string) => {
    const body = { order_id: orderId, platform: 'storm', amount_cents: 1, ...maybeDue(chance) }
    if (!(await isAcknowledged(() => callPlatform(url, 'POST', '/orders', { body })))) return
    acknowledged.set(orderId, 'pending')
    for (const status of ORDER_STEPS.slice(1)) {
      if (stopping || chance.number() < 0.5) return
      if (!(await isAcknowledged(() => callPlatform(url, 'PUT', `/orders/${orderId}`, { body: { status } }))))
        return
      acknowledged.set(orderId, status)
    }
  }

  const run = async (client: number) => {
    for (let number = 1; !stopping; number++) {
      try {
        await follow(`${prefix}-${client}-${number}`)
      } catch {
        return
      }
    }
  }

  const running = Array.from({ length: clients }, (_, client) => run(client))
  return {
    acknowledged,
    unexpected,
    async stop() {
      stopping = true
      await Promise.all(running)
    },
  }
}

/** Whether an order that was acknowledged in `status` can have the status `now`: only its client and the worker move it. */
export function canHaveBecome(now: string | undefined, status: OrderStep): boolean {
  if (now === 'expired') return status === 'pending'
  return ORDER_STEPS.findIndex((each) => each === now) >= ORDER_STEPS.indexOf(status)
}

/** Some orders are overdue from their creation, so that the worker has orders to expire. */
function maybeDue(chance: Chance): { expires_at?: string } {
  return chance.number() < 0.2 ? { expires_at: '2026-01-01T00:00:00Z' } : {}
}
