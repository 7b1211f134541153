import { defineColumns, generated, integer, text } from '../../store/columns.ts'
import { schemaOf } from '../../store/schema.ts'
import type { OrderStatus } from './model.ts'

export const orders = defineColumns({
  seq: generated(),
  orderId: text(),
  platform: text(),
  amountCents: integer(),
  status: text<OrderStatus>(),
  expiresAt: integer(),
  createdAt: integer(),
  createdBy: text(),
  updatedAt: integer(),
  paidAt: integer().nullable(),
  shippedAt: integer().nullable(),
  completedAt: integer().nullable(),
  expiredAt: integer().nullable(),
  /** Counts the changes; the ETag on the wire. */
  version: integer(),
})

/** Every change after the creation, which the row of the order itself records. */
export const orderHistory = defineColumns({
  orderId: text(),
  version: integer(),
  at: integer(),
  fromStatus: text<OrderStatus>(),
  toStatus: text<OrderStatus>(),
  actor: text(),
})

export const { db, names, pages, statement } = schemaOf({ orders, order_history: orderHistory })
