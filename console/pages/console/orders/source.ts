import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { ORDER_FILTERS, orderIn, type Order } from './model.ts'
import type { AnswerOf } from '../../../api/operations.ts'

const PAGE_LENGTH = 50
const PREFIX = 'order.'

/** The list of the orders, as the filters of the address say. */
export const orderList: ListSource<Order> = {
  filters: ORDER_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listOrders', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ order_id }) => order_id,
  fromEvent: orderIn,
}

/** One order. */
export const orderResource: ResourceSource<Order> = {
  live,
  prefix: PREFIX,
  read: (order_id, signal) => call('getOrder', { path: { order_id } }, signal),
  isAbout: (event, id) => orderIn(event)?.order_id === id,
}

/** The changes of one order. */
export const orderHistory: ResourceSource<AnswerOf<'getOrderHistory'>> = {
  ...orderResource,
  read: (order_id, signal) => call('getOrderHistory', { path: { order_id } }, signal),
}
