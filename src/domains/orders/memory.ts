import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Queries, Reads } from '../../store/store.ts'
import type { Order } from './model.ts'
import { findOrders, listMarks, listOrders, type Mark, type OrderFilter } from './store.ts'

// About 10 MB.
const REMEMBERED = 20_000
// On all remembered pages together; the pages that clients ask for again and again are few.
const ON_PAGES = 5_000

/** Reads pages of orders, newest first. A page that it gives again is the very same object. */
export type ReadPage = (reads: Reads, filter: OrderFilter, page: PageRequest) => Promise<Page<Order>>

/** Remembers pages for as long as nobody has committed anything, and orders by their version beyond that. */
export function createOrderMemory(limit = REMEMBERED): ReadPage {
  const readPage = rememberingOrders(limit)
  const pages = new Map<string, Page<Order>>()
  let state: number | undefined
  let orders = 0

  const forget = () => {
    pages.clear()
    orders = 0
  }

  const keep = (key: string, page: Page<Order>) => {
    orders += page.items.length
    if (orders > Math.min(limit, ON_PAGES)) forget()
    else pages.set(key, page)
  }

  return async (reads, filter, request) => {
    const now = await reads.state()
    if (now !== state) forget()
    state = now
    const key = JSON.stringify([filter.status, filter.platform, request.before, request.limit])
    const known = pages.get(key)
    if (known) return known
    const page = await readPage(reads, filter, request)
    // While it was read somebody else may have found that the state is another one.
    if (now !== undefined && now === state) keep(key, page)
    return page
  }
}

/**
 * Remembers orders by their version, which every change raises. A page then reads two numbers an order instead of a
 * whole row, and those who render orders find the very object that they have rendered before.
 */
function rememberingOrders(
  limit: number,
): (queries: Queries, filter: OrderFilter, page: PageRequest) => Promise<Page<Order>> {
  const known = new Map<number, Order>()

  const recall = ({ seq, version }: Mark): Order | undefined => {
    const order = known.get(seq)
    return order?.version === version ? order : undefined
  }

  const learn = async (queries: Queries, marks: readonly Mark[]) => {
    const unknown = marks.filter((mark) => !recall(mark)).map(({ seq }) => seq)
    if (unknown.length === 0) return
    for (const { seq, order } of await findOrders(queries, unknown)) {
      known.delete(seq)
      known.set(seq, order)
    }
  }

  const forget = () => {
    for (const seq of known.keys()) {
      if (known.size <= limit) return
      known.delete(seq)
    }
  }

  return async (queries, filter, page) => {
    const { items: marks, next } = await listMarks(queries, filter, page)
    await learn(queries, marks)
    const items = marks.map(recall)
    forget()
    // One that has changed between the two reads may not belong to the page any more.
    return items.every((order) => order !== undefined) ? { items, next } : listOrders(queries, filter, page)
  }
}
