import { callPlatform } from './platform.ts'
import type { Chance } from './random.ts'

/** How far an order can come, each status behind the one before it. */
export const ORDER_WAY = ['pending', 'paid', 'shipped', 'completed'] as const
export type OrderStep = (typeof ORDER_WAY)[number]

export interface OrderClients {
  /** What the clients were told: the last status of each order that the platform has acknowledged. */
  readonly acknowledged: ReadonlyMap<string, OrderStep>
  /** Answers that were neither an acknowledgement nor a refusal that may be: 409 after an expiry, 503 while it stops. */
  readonly surprises: readonly string[]
  /** Ends after the calls under way; resolves at once for clients whose server is gone. */
  stop(): Promise<void>
}

export interface OrderClientOptions {
  readonly url: string
  readonly clients: number
  /** Begins the id of every order; no two loads on one database may share it. */
  readonly prefix: string
  readonly chance: Chance
}

/** Clients that make orders and move some of them on, one call after the other, until they are stopped. */
export function startOrderClients({ url, clients, prefix, chance }: OrderClientOptions): OrderClients {
  const acknowledged = new Map<string, OrderStep>()
  const surprises: string[] = []
  let stopping = false

  /** Whether the platform has acknowledged it. A connection that breaks says nothing: the call may have been heard. */
  const told = async (call: () => Promise<Response>): Promise<boolean> => {
    const answer = await call()
    const body = await answer.text()
    if (answer.ok) return true
    if (answer.status !== 503 && answer.status !== 409) surprises.push(`${answer.status} ${body}`)
    return false
  }

  const follow = async (orderId: string) => {
    const body = { order_id: orderId, platform: 'storm', amount_cents: 1, ...maybeDue(chance) }
    if (!(await told(() => callPlatform(url, 'POST', '/orders', { body })))) return
    acknowledged.set(orderId, 'pending')
    for (const status of ORDER_WAY.slice(1)) {
      if (stopping || chance.number() < 0.5) return
      if (!(await told(() => callPlatform(url, 'PUT', `/orders/${orderId}`, { body: { status } })))) return
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
    surprises,
    async stop() {
      stopping = true
      await Promise.all(running)
    },
  }
}

/** Some orders are due as soon as they are there, so that the worker has something to expire. */
function maybeDue(chance: Chance): { expires_at?: string } {
  return chance.number() < 0.2 ? { expires_at: '2026-01-01T00:00:00Z' } : {}
}
