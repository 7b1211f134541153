import { sql } from 'kysely'
import { NEWEST_FIRST, type PageOrder, type PageRequest } from '../../kernel/page.ts'
import { defineColumns, generated, integer, text } from '../../store/columns.ts'
import type { Capabilities } from '../../store/dialects/capabilities.ts'
import type { AnyQuery, FilterOf } from '../../store/pages.ts'
import { schemaOf } from '../../store/schema.ts'
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

export const { db, names, pages, statement } = schemaOf({
  orders,
  order_history: orderHistory,
  archived_orders: archivedOrders,
  archived_order_history: orderHistory,
})

/** As in the partial index `orders_ended`, which is used only with exactly this condition. */
export const HAS_ENDED = sql<boolean>`(completed_at is not null or expired_at is not null)`

// No index has this form of the column.
const unindexed = (column: string) => sql<string>`coalesce(${sql.ref(column)}, '')`

/** The members of {@link ORDER_CONDITIONS} that are literals. */
export const ORDER_LITERALS = ['status', 'sortedStatus'] as const

/** The conditions of the lists of orders. */
export const ORDER_CONDITIONS = {
  status: (query: AnyQuery, status: OrderStatus) => query.where('status', '=', sql.lit(status)),
  platform: (query: AnyQuery, platform: string) => query.where('platform', '=', platform),
  // For lists that another index sorts. SQLite would use the index of the status or the platform, and sort all its rows.
  sortedStatus: (query: AnyQuery, status: OrderStatus) =>
    query.where(unindexed('status'), '=', sql.lit(status)),
  sortedPlatform: (query: AnyQuery, platform: string) => query.where(unindexed('platform'), '=', platform),
  // No id has a character that is sorted behind the tilde.
  idPrefix: (query: AnyQuery, prefix: string, { byBytes }: Capabilities) =>
    query
      .where(byBytes('order_id'), '>=', prefix)
      .where(byBytes('order_id'), '<', sql<string>`cast(${prefix} as text) || '~'`),
  // An order does not change after its end.
  endedFrom: (query: AnyQuery, time: number) => query.where(HAS_ENDED).where('updated_at', '>=', time),
  endedTo: (query: AnyQuery, time: number) => query.where(HAS_ENDED).where('updated_at', '<', time),
}

export interface OrderFilter {
  readonly status?: OrderStatus
  readonly platform?: string
  /** The first characters of the id. */
  readonly idPrefix?: string
  /** Only orders that ended at this time or later, in epoch milliseconds. */
  readonly endedFrom?: number
  /** Only orders that ended before this time, in epoch milliseconds. */
  readonly endedTo?: number
}

const BY_ID: PageOrder<'orderId'> = {
  name: 'id',
  keys: [{ name: 'orderId', type: 'text', direction: 'asc' }],
}

const LATEST_END_FIRST: PageOrder<'updatedAt' | 'seq'> = {
  name: 'ended',
  keys: [
    { name: 'updatedAt', type: 'integer', direction: 'desc' },
    { name: 'seq', type: 'integer', direction: 'desc' },
  ],
}

type SortName = 'seq' | 'orderId' | 'updatedAt'
export type OrderPageRequest = PageRequest<SortName>

/** The order in which the orders that match a filter are listed: the one in which an index finds them. */
export function sortOf({ idPrefix, endedFrom, endedTo }: OrderFilter): PageOrder<SortName> {
  if (endedFrom !== undefined || endedTo !== undefined) return LATEST_END_FIRST
  return idPrefix === undefined ? NEWEST_FIRST : BY_ID
}

/** The values of {@link ORDER_CONDITIONS} for a filter. */
export function conditionsOf(filter: OrderFilter): FilterOf<typeof ORDER_CONDITIONS> {
  if (sortOf(filter) === NEWEST_FIRST) return filter
  const { status: sortedStatus, platform: sortedPlatform, ...range } = filter
  return { ...range, sortedStatus, sortedPlatform }
}
