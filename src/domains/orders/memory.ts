import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Queries } from '../../store/store.ts'
import type { Order } from './model.ts'
import { findOrders, listMarks, listOrders, type Mark, type OrderFilter } from './store.ts'

// About 10 MB.
const REMEMBERED = 20_000

/** Reads pages of orders, newest first. */
export type ReadPage = (queries: Queries, filter: OrderFilter, page: PageRequest) => Promise<Page<Order>>

/**
 * Remembers orders by their version, which every change raises. A page then reads two numbers an order instead of a
 * whole row, and those who render orders find the very object that they have rendered before.
 */
export function createOrderMemory(limit = REMEMBERED): ReadPage {
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
