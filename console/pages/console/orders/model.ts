import type { AnswerOf } from '../../../api/operations.ts'
import { eventObject } from '../../../api/event-stream.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

export type Order = AnswerOf<'getOrder'>
export type OrderChange = AnswerOf<'getOrderHistory'>['items'][number]
export type OrderStatus = Order['status']

export const ORDER_STATUSES = ['pending', 'paid', 'shipped', 'completed', 'expired'] as const

/** docs/specification.md, Orders */
export const ORDER_MOVES: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ['paid', 'expired'],
  paid: ['shipped', 'completed'],
  shipped: ['completed'],
  completed: [],
  expired: [],
}

const FINAL_STATUSES = ['completed', 'expired'] as const
export type FinalStatus = (typeof FINAL_STATUSES)[number]

/** Whether an order can never leave the status. */
export function isFinal(status: OrderStatus): status is FinalStatus {
  return FINAL_STATUSES.some((each) => each === status)
}

export const ORDER_TONES: Readonly<Record<OrderStatus, Tone>> = {
  pending: 'active',
  paid: 'good',
  shipped: 'good',
  completed: 'quiet',
  expired: 'warning',
}

/** The order that an event is about. */
export const orderIn = eventObject<Order>('order_id')
