import { signal } from '@preact/signals'
import { VALUES } from '../../../api/generated.ts'
import type { ListQuery } from '../../../parts/list/list-query.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { orderIn, type Order } from './model.ts'
import type { AnswerOf } from '../../../api/operations.ts'

const PAGE_LENGTH = 50
const PREFIX = 'order.'

const seenPlatforms = signal<ReadonlySet<string>>(new Set())

function rememberPlatforms(items: readonly Order[]): void {
  seenPlatforms.value = seenPlatforms.peek().union(new Set(items.map(({ platform }) => platform)))
}

/** The platforms of all orders that were listed since the page was loaded. */
export function platformsSeen(): readonly string[] {
  return [...seenPlatforms.value].toSorted()
}

/** Some filters bring an order of their own (docs/specification.md, Orders). */
function sortedBy(query: ListQuery): string | undefined {
  const has = (name: string) => ['', '_from', '_to'].some((end) => query[`${name}${end}`] !== undefined)
  if (has('ended')) return 'ended'
  if (has('expires') || query['sort'] === 'expires_at') return 'expires_at'
  return query['id_prefix'] === undefined ? undefined : 'id'
}

/** The list of the orders, as the filters of the address say. */
export const orderList = listOf('listOrders', PREFIX, {
  filters: [
    { name: 'status', kind: 'choice', values: VALUES.listOrders.status },
    { name: 'id_prefix', kind: 'text', match: 'beginning', isElsewhere: true },
    { name: 'platform', kind: 'text', suggestions: platformsSeen },
    { name: 'created', kind: 'period' },
    { name: 'expires', kind: 'period', words: ['overdue', 'next-10m', 'next-1h', 'today', 'next-24h'] },
    { name: 'ended', kind: 'period' },
  ],
  sorts: [
    { value: '', column: 'created_at', direction: 'descending' },
    { value: 'expires_at', column: 'expires_at', direction: 'ascending' },
  ],
  sortedBy,
  async read(query, aborted) {
    const result = await call('listOrders', { query: { ...query, limit: PAGE_LENGTH } }, aborted)
    if (result.ok) rememberPlatforms(result.value.items)
    return result
  },
  keyOf: ({ order_id }) => order_id,
  fromEvent: orderIn,
})

/** One order. */
export const orderResource = resourceOf('getOrder', PREFIX, (order_id) => ({ path: { order_id } }), {
  isAbout: (event, id) => orderIn(event)?.order_id === id,
})

/** The changes of one order. */
export const orderHistory: ResourceSource<AnswerOf<'getOrderHistory'>> = {
  ...orderResource,
  read: (order_id, signal) => call('getOrderHistory', { path: { order_id } }, signal),
}
