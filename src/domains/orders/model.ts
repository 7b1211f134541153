import type { AlertTable } from '../../kernel/alerts.ts'
import { DAY } from '../../kernel/time.ts'

/** The states of an order (docs/specification.md, Orders). */
export const ORDER_STATUSES = ['pending', 'paid', 'shipped', 'completed', 'expired'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]
/** What an order becomes by a move. */
export type NextOrderStatus = Exclude<OrderStatus, 'pending'>

/** The allowed moves; an error message names them in this order. */
export const ORDER_MOVES: Readonly<Record<OrderStatus, readonly NextOrderStatus[]>> = {
  pending: ['paid', 'expired'],
  paid: ['shipped', 'completed'],
  shipped: ['completed'],
  completed: [],
  expired: [],
}

export interface Order {
  readonly orderId: string
  readonly platform: string
  readonly amountCents: number
  readonly status: OrderStatus
  /** All times are epoch milliseconds, UTC. */
  readonly expiresAt: number
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
  readonly paidAt: number | null
  readonly shippedAt: number | null
  readonly completedAt: number | null
  readonly expiredAt: number | null
  /** 1 at the creation, incremented by each change. */
  readonly version: number
}

/** An order in a list, without the fields that lists do not show. */
export type ListedOrder = Omit<Order, 'createdBy'>

/** What a client sends to create an order. */
export interface NewOrder {
  readonly orderId: string
  readonly platform: string
  readonly amountCents: number
  readonly expiresAt?: number
}

/** One change of an order's status; `from` is null for its creation. */
export interface OrderChange {
  readonly at: number
  readonly from: OrderStatus | null
  readonly to: OrderStatus
  readonly actor: string
}

/** Whether a pending order has reached its time of expiry. */
export function isDue({ expiresAt }: Order, at: number): boolean {
  return expiresAt <= at
}

const STATUS_TIMES = {
  paid: 'paidAt',
  shipped: 'shippedAt',
  completed: 'completedAt',
  expired: 'expiredAt',
} as const satisfies Partial<Record<OrderStatus, keyof Order>>

/** The order after a move that is one of {@link ORDER_MOVES}. */
export function applyMove(order: Order, to: NextOrderStatus, at: number): Order {
  return { ...order, status: to, updatedAt: at, version: order.version + 1, [STATUS_TIMES[to]]: at }
}

/** A pending order created at `at`; without a time of the client it expires after `expiryMs`. */
export function newOrder(wanted: NewOrder, createdBy: string, at: number, expiryMs: number): Order {
  const { orderId, platform, amountCents, expiresAt = at + expiryMs } = wanted
  return {
    orderId,
    platform,
    amountCents,
    status: 'pending',
    expiresAt,
    createdAt: at,
    createdBy,
    updatedAt: at,
    paidAt: null,
    shippedAt: null,
    completedAt: null,
    expiredAt: null,
    version: 1,
  }
}

/** The fields in which `wanted` is another order than the existing one (docs/specification.md, Orders). */
export function differencesOf(order: Order, wanted: NewOrder): string[] {
  const differs = {
    platform: order.platform !== wanted.platform,
    amount_cents: order.amountCents !== wanted.amountCents,
    expires_at: wanted.expiresAt !== undefined && order.expiresAt !== wanted.expiresAt,
  }
  return Object.entries(differs).flatMap(([field, isDifferent]) => (isDifferent ? [field] : []))
}

/** The alerts of orders, for `docs/reference/alerts.md`. */
export const ORDER_ALERTS = {
  'order.timeout:*': {
    severities: ['WARNING'],
    raisedBy: 'An order expires; `*` is its id.',
    endedBy: '24 hours: it is a notice, for the order stays expired.',
    whatToDo:
      'Nothing, unless many orders expire: then check the payments, and the clock of each host (`platform doctor` there).',
    endsAfterMs: DAY,
  },
} as const satisfies AlertTable

/** The event for each status that an order enters (docs/specification.md, Events). */
export const ORDER_EVENTS = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
} as const satisfies Record<OrderStatus, string>
