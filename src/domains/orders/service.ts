import type { Clock } from '../../kernel/clock.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Store, Tx } from '../../store/store.ts'
import { ORDER_EVENTS, type OrderEvent } from './events.ts'
import {
  canMove,
  isSameOrder,
  moved,
  ORDER_MOVES,
  type NewOrder,
  type Order,
  type OrderChange,
  type OrderStatus,
} from './model.ts'
import { createOrderMemory } from './memory.ts'
import { toOrderText } from './schemas.ts'
import {
  countByStatus,
  findOrder,
  insertOrder,
  listChanges,
  listDue,
  lockDue,
  moveOrder,
  type OrderFilter,
} from './store.ts'

/** What the order domain needs of the rest of the platform. */
export interface OrderDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** From an order's creation to its expiry, in milliseconds, when the client names none. */
  readonly expiryMs: number
  /** Writes an event in the caller's transaction; it goes out after the commit. */
  readonly events: { append(tx: Tx, event: OrderEvent): Promise<void> }
  /** Raises an alert in the caller's transaction. */
  readonly alerts: { raise(tx: Tx, alert: OrderAlert): Promise<void> }
}

/** The alert that an expired order raises (spec, States and transitions: order.timeout). */
export interface OrderAlert {
  readonly alarmId: string
  readonly source: 'platform.orders'
  readonly title: string
  readonly body: string
  readonly severity: 'WARNING'
}

export interface Orders {
  /** Makes an order, or finds that the same one is there. Rejects with `order_exists` for a different one. */
  create(wanted: NewOrder, actor: string): Promise<{ order: Order; outcome: 'created' | 'known' }>
  /** Rejects with `order_not_found`. */
  get(orderId: string): Promise<Order>
  /** Newest first. */
  list(filter: OrderFilter, page: PageRequest): Promise<Page<Order>>
  /** Every change, oldest first; the first one is the creation. Rejects with `order_not_found`. */
  history(orderId: string): Promise<OrderChange[]>
  /**
   * Moves an order; one that is there already stays as it is, and tells nobody. `expectedVersion` refuses the move
   * with `precondition_failed` unless the order has it. Rejects with `order_not_found` or `invalid_transition`.
   */
  move(orderId: string, to: OrderStatus, actor: string, expectedVersion?: readonly number[]): Promise<Order>
  /** Expires one batch of the pending orders whose time is over; answers how many of them it expired. */
  expireDue(limit: number): Promise<{ found: number; expired: number }>
  /** How many orders there are of each status. Takes long where there are many. */
  countByStatus(): Promise<{ status: OrderStatus; orders: number }[]>
}

const WORKER = 'worker'

export function createOrderService(deps: OrderDeps): Orders {
  const { store, clock, logger, events, alerts } = deps
  const readPage = createOrderMemory()
  const changes = deps.metrics.counter({
    name: 'order_changes_total',
    help: 'Orders that arrived in a status.',
    labels: ['status'],
  })

  const tell = (order: Order, actor: string) => {
    changes.increment({ status: order.status })
    logger.debug({ order_id: order.orderId, status: order.status, actor }, 'order changed')
  }

  /** The change, its history and its event; or nothing, when the order has left `from` meanwhile. */
  const arrive = async (tx: Tx, order: Order, to: OrderStatus, actor: string): Promise<Order | undefined> => {
    const next = moved(order, to, clock.now())
    if (!(await moveOrder(tx, order.status, next, actor))) return undefined
    await events.append(tx, eventOf(next))
    if (to === 'expired') await alerts.raise(tx, timeoutAlert(next))
    tx.afterCommit(() => tell(next, actor))
    return next
  }

  return {
    create: (wanted, actor) =>
      store.write(async (tx) => {
        const order = newOrder(wanted, actor, clock.now(), deps.expiryMs)
        if (!(await insertOrder(tx, order)))
          return { order: await sameOrder(tx, wanted), outcome: 'known' as const }
        await events.append(tx, eventOf(order))
        tx.afterCommit(() => tell(order, actor))
        return { order, outcome: 'created' as const }
      }),

    get: async (orderId) => existing(await findOrder(store.read, orderId), orderId),

    list: (filter, page) => readPage(store.read, filter, page),

    async history(orderId) {
      const order = existing(await findOrder(store.read, orderId), orderId)
      const creation: OrderChange = { at: order.createdAt, from: null, to: 'pending', actor: order.createdBy }
      return [creation, ...(await listChanges(store.read, orderId))]
    },

    move: (orderId, to, actor, expectedVersion) =>
      store.write(async (tx) => {
        // A move that loses a race sees where the order went, and is judged by that.
        for (;;) {
          const order = existing(await findOrder(tx, orderId), orderId)
          requireVersion(order, expectedVersion)
          if (order.status === to) return order
          if (!canMove(order.status, to)) throw invalidTransition(order, to)
          const next = await arrive(tx, order, to, actor)
          if (next) return next
        }
      }),

    async expireDue(limit) {
      // Read beside the write queue: a scan that finds nothing writes nothing.
      const found = await listDue(store.read, clock.now(), limit)
      if (found.length === 0) return { found: 0, expired: 0 }
      return store.write(async (tx) => {
        let expired = 0
        for (const order of await lockDue(tx, found))
          if (await arrive(tx, order, 'expired', WORKER)) expired++
        return { found: found.length, expired }
      })
    },

    countByStatus: () => store.readAside(countByStatus(store.read)),
  }
}

function newOrder(wanted: NewOrder, actor: string, now: number, expiryMs: number): Order {
  return {
    orderId: wanted.orderId,
    platform: wanted.platform,
    amountCents: wanted.amountCents,
    status: 'pending',
    expiresAt: wanted.expiresAt ?? now + expiryMs,
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    paidAt: null,
    shippedAt: null,
    completedAt: null,
    expiredAt: null,
    version: 1,
  }
}

async function sameOrder(tx: Tx, wanted: NewOrder): Promise<Order> {
  const order = existing(await findOrder(tx, wanted.orderId), wanted.orderId)
  if (isSameOrder(order, wanted)) return order
  throw new AppError(
    'conflict',
    'order_exists',
    `There is another order ${JSON.stringify(wanted.orderId)} already.`,
  )
}

function existing(order: Order | undefined, orderId: string): Order {
  if (!order) throw notFound('order', orderId)
  return order
}

function requireVersion(order: Order, expected: readonly number[] | undefined): void {
  if (!expected || expected.includes(order.version)) return
  throw new AppError(
    'precondition_failed',
    'precondition_failed',
    `The order has changed since; its entity tag is "${order.version}" now.`,
  )
}

function invalidTransition(order: Order, to: OrderStatus): AppError {
  const moves = ORDER_MOVES[order.status]
  const allowed = moves.length > 0 ? `it can become ${moves.join(' or ')}` : 'that is its end'
  return new AppError(
    'conflict',
    'invalid_transition',
    `A ${order.status} order cannot become ${to}; ${allowed}.`,
  )
}

function eventOf(order: Order): OrderEvent {
  return { type: ORDER_EVENTS[order.status], subject: order.orderId, data: toOrderText(order) }
}

function timeoutAlert({ orderId, platform, amountCents }: Order): OrderAlert {
  return {
    alarmId: `order.timeout:${orderId}`,
    source: 'platform.orders',
    title: `Order ${orderId} was not paid in time`,
    body: `The order of platform ${platform} over ${amountCents} cents expired without a payment.`,
    severity: 'WARNING',
  }
}
