import type { OrderStatus } from './model.ts'
import type { JsonText } from '../../kernel/json-text.ts'

/** The event that tells of an order's arrival in a state (contract, section 4: Subjects). */
export const ORDER_EVENTS = {
  pending: 'order.created',
  paid: 'order.paid',
  shipped: 'order.shipped',
  completed: 'order.completed',
  expired: 'order.timeout',
} as const satisfies Record<OrderStatus, string>

export interface OrderEvent {
  readonly type: (typeof ORDER_EVENTS)[OrderStatus]
  /** The order's id. */
  readonly subject: string
  /** As answers carry it. */
  readonly data: JsonText
}
