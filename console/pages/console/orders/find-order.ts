import { addressOf, withFilter, type ListQuery } from '../../../parts/list/list-query.ts'
import { call } from '../platform.ts'
import { pathOf } from '../view.ts'

const PATH = pathOf('orders')

/** The address of the order with this id, or else of the list of those whose ids begin with the text. */
export async function orderAddress(text: string, query: ListQuery = {}): Promise<string> {
  const { ok } = await call('getOrder', { path: { order_id: text } })
  return ok ? addressOf(pathOf('orders', text), query) : withFilter(PATH, query, 'id_prefix', text)
}
