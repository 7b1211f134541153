import type { AnswerOf } from '../../../api/operations.ts'
import { eventObject } from '../../../api/event-stream.ts'
import { ORDER_MOVES } from '../../../api/generated.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

export type Order = AnswerOf<'getOrder'>
export type OrderChange = AnswerOf<'getOrderHistory'>['items'][number]
export type OrderStatus = Order['status']

type Moves = typeof ORDER_MOVES

/** The statuses that an order never leaves. */
export type FinalStatus = {
  [Status in OrderStatus]: Moves[Status] extends readonly [] ? Status : never
}[OrderStatus]

export function isFinal(status: OrderStatus): status is FinalStatus {
  return orderMovesFrom(status).length === 0
}

export function orderMovesFrom(status: OrderStatus): readonly OrderStatus[] {
  return ORDER_MOVES[status]
}

export const ORDER_TONES: Readonly<Record<OrderStatus, Tone>> = {
  pending: 'active',
  paid: 'good',
  shipped: 'good',
  completed: 'quiet',
  expired: 'warning',
}

/** The order that an event is about. */
export const orderIn = eventObject('Order')
