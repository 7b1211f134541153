import type { Generated } from 'kysely'
import type { OrderStatus } from './model.ts'

export interface OrdersTable {
  seq: Generated<number>
  order_id: string
  platform: string
  amount_cents: number
  status: OrderStatus
  expires_at: number
  created_at: number
  created_by: string
  updated_at: number
  paid_at: number | null
  shipped_at: number | null
  completed_at: number | null
  expired_at: number | null
  /** Counts the changes; the entity tag on the wire. */
  version: number
}

/** Every change after the creation, which the order's own row tells. */
export interface OrderHistoryTable {
  order_id: string
  version: number
  at: number
  from_status: OrderStatus
  to_status: OrderStatus
  actor: string
}
