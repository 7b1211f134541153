import { sql } from 'kysely'
import {
  NEWEST_FIRST,
  orderByIntegers,
  orderByText,
  type Page,
  type PageOrder,
  type PageRequest,
} from '../../kernel/page.ts'
import type { Capabilities } from '../../store/dialects/capabilities.ts'
import type { AnyQuery, FilterOf } from '../../store/pages.ts'
import type { Reads } from '../../store/store.ts'
import type { ListedOrder, OrderStatus } from './model.ts'
import { archivedOrders, HAS_ENDED, orders, pages } from './tables.ts'

// An expression that no index has, so that another index is used.
const unindexedColumn = (column: string) => sql<string>`coalesce(${sql.ref(column)}, '')`

const LITERALS = ['status', 'unindexedStatus'] as const

/** The condition of the partial index `orders_due`. */
const isPending = (query: AnyQuery) => query.where('status', '=', sql.lit('pending'))

const CONDITIONS = {
  status: (query: AnyQuery, status: OrderStatus) => query.where('status', '=', sql.lit(status)),
  platform: (query: AnyQuery, platform: string) => query.where('platform', '=', platform),
  // The status for lists that are sorted by another index; with the plain column SQLite would use the index of the status,
  // and sort all its rows.
  unindexedStatus: (query: AnyQuery, status: OrderStatus) =>
    query.where(unindexedColumn('status'), '=', sql.lit(status)),
  unindexedPlatform: (query: AnyQuery, platform: string) =>
    query.where(unindexedColumn('platform'), '=', platform),
  // No id has a character that sorts after the tilde.
  idPrefix: (query: AnyQuery, prefix: string, { byBytes }: Capabilities) =>
    query
      .where(byBytes('order_id'), '>=', prefix)
      .where(byBytes('order_id'), '<', sql<string>`cast(${prefix} as text) || '~'`),
  // An order does not change after its end.
  endedFrom: (query: AnyQuery, time: number) => query.where(HAS_ENDED).where('updated_at', '>=', time),
  endedTo: (query: AnyQuery, time: number) => query.where(HAS_ENDED).where('updated_at', '<', time),
  updatedFrom: (query: AnyQuery, time: number) => query.where('updated_at', '>=', time),
  updatedTo: (query: AnyQuery, time: number) => query.where('updated_at', '<', time),
  due: (query: AnyQuery, _: true) => isPending(query),
  expiresFrom: (query: AnyQuery, time: number) => isPending(query).where('expires_at', '>=', time),
  expiresTo: (query: AnyQuery, time: number) => isPending(query).where('expires_at', '<', time),
}

export interface OrderFilter {
  /** From the archive; by default, the orders that are not in it. */
  readonly archived?: boolean
  readonly status?: OrderStatus | readonly OrderStatus[]
  readonly platform?: string
  /** The first characters of the id. */
  readonly idPrefix?: string
  /** Only orders that ended at this time or later, in epoch milliseconds. */
  readonly endedFrom?: number
  /** Only orders that ended before this time, in epoch milliseconds. */
  readonly endedTo?: number
  /** Only orders whose last change, or creation, was at this time or later, in epoch milliseconds. */
  readonly updatedFrom?: number
  /** Only orders whose last change, or creation, was before this time, in epoch milliseconds. */
  readonly updatedTo?: number
  /** Only pending orders, by the time at which they expire. */
  readonly due?: true
  /** Only pending orders that expire at this time or later, in epoch milliseconds. */
  readonly expiresFrom?: number
  /** Only pending orders that expire before this time, in epoch milliseconds. */
  readonly expiresTo?: number
}

const BY_ID = orderByText('id', 'orderId')
const LATEST_END_FIRST = orderByIntegers('ended', 'desc', ['updatedAt', 'seq'])
/** An order that changes while the pages are read comes again, behind the others: none is skipped. */
const FIRST_UPDATE_FIRST = orderByIntegers('updated', 'asc', ['updatedAt', 'seq'])
const SOONEST_EXPIRY_FIRST = orderByIntegers('expires_at', 'asc', ['expiresAt', 'seq'])

type SortName = 'seq' | 'orderId' | 'updatedAt' | 'expiresAt'
export type OrderPageRequest = PageRequest<SortName>

/** The order in which the orders that match a filter are listed: the one in which an index finds them. */
export function sortOf(filter: OrderFilter): PageOrder<SortName> {
  const { idPrefix, endedFrom, endedTo, updatedFrom, updatedTo, due, expiresFrom, expiresTo } = filter
  if (endedFrom !== undefined || endedTo !== undefined) return LATEST_END_FIRST
  if (due || expiresFrom !== undefined || expiresTo !== undefined) return SOONEST_EXPIRY_FIRST
  if (updatedFrom !== undefined || updatedTo !== undefined) return FIRST_UPDATE_FIRST
  return idPrefix === undefined ? NEWEST_FIRST : BY_ID
}

/** The values of {@link CONDITIONS} for a filter. */
function conditionsOf({ archived: _, ...filter }: OrderFilter): FilterOf<typeof CONDITIONS> {
  if (sortOf(filter) === NEWEST_FIRST) return filter
  const { status: unindexedStatus, platform: unindexedPlatform, ...range } = filter
  return { ...range, unindexedStatus, unindexedPlatform }
}

const pageOfOrders = pages(
  { table: 'orders', createdAt: 'created_at', literals: LITERALS },
  (on) => on.selectFrom('orders').select(orders.except('createdBy')),
  CONDITIONS,
)

const pageOfArchivedOrders = pages(
  { table: 'archived_orders', createdAt: 'created_at', literals: LITERALS },
  (on) => on.selectFrom('archived_orders').select(archivedOrders.except('createdBy')),
  // The last change of an archived order is its end, which has an index.
  { ...CONDITIONS, updatedFrom: CONDITIONS.endedFrom, updatedTo: CONDITIONS.endedTo },
)

/** One page of the orders that match the filter. The page has the order of {@link sortOf}. */
export function listOrders(
  reads: Reads,
  filter: OrderFilter,
  page: OrderPageRequest,
): Promise<Page<ListedOrder>> {
  const readPage = filter.archived ? pageOfArchivedOrders : pageOfOrders
  return readPage(reads, conditionsOf(filter), page)
}
