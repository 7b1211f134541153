import { sql } from 'kysely'
import { defineColumns, generated, integer, text, schemaOf } from '../../store/columns.ts'
import type { OrderStatus } from './model.ts'

const ORDER = {
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
}

export const orders = defineColumns({ seq: generated(), ...ORDER })

/** Orders that have ended long ago, under the same numbers. */
export const archivedOrders = defineColumns({ seq: integer(), ...ORDER })

/** Every change after the creation, which the row of the order itself records. */
export const orderHistory = defineColumns({
  orderId: text(),
  version: integer(),
  at: integer(),
  fromStatus: text<OrderStatus>(),
  toStatus: text<OrderStatus>(),
  actor: text(),
})

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  orders,
  order_history: orderHistory,
  archived_orders: archivedOrders,
  archived_order_history: orderHistory,
})

/** The condition of the partial index `orders_ended`; SQLite uses the index only with exactly this text. */
export const HAS_ENDED = sql<boolean>`(completed_at is not null or expired_at is not null)`
