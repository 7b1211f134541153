/** The states of an order (spec, States and transitions: Order). */
export const ORDER_STATUSES = ['pending', 'paid', 'shipped', 'completed', 'expired'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** Which moves there are; the order of a list is the order in which an error message names them. */
export const ORDER_MOVES: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
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
  /** 1 when made, one more with each change. */
  readonly version: number
}

/** What a client gives to make an order. Without `expiresAt` the platform's default holds. */
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

export function canMove(from: OrderStatus, to: OrderStatus): boolean {
  return ORDER_MOVES[from].includes(to)
}

/** The order as it is after a move that {@link canMove} allows. */
export function moved(order: Order, to: OrderStatus, at: number): Order {
  const arrived = { ...order, status: to, updatedAt: at, version: order.version + 1 }
  switch (to) {
    case 'paid':
      return { ...arrived, paidAt: at }
    case 'shipped':
      return { ...arrived, shippedAt: at }
    case 'completed':
      return { ...arrived, completedAt: at }
    case 'expired':
      return { ...arrived, expiredAt: at }
    case 'pending':
      return arrived
  }
}

/** Whether making `wanted` again asks for the order that is there already (contract, Operations: POST /orders). */
export function isSameOrder(order: Order, wanted: NewOrder): boolean {
  return (
    order.orderId === wanted.orderId &&
    order.platform === wanted.platform &&
    order.amountCents === wanted.amountCents &&
    (wanted.expiresAt === undefined || order.expiresAt === wanted.expiresAt)
  )
}
