import type { OrderStatus } from './model.ts'

/** The event for each status that an order enters (docs/specification.md, Events). */
export const ORDER_EVENTS = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
} as const satisfies Record<OrderStatus, string>
