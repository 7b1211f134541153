import { JsonText } from '../../kernel/json-text.ts'
import { parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../wire/page.ts'
import { created, ok, route, type Answer, type Route } from '../../wire/route.ts'
import { sortOf } from './list.ts'
import type { Order } from './model.ts'
import {
  decodeNewOrder,
  CreatedOrderSchema,
  encodeCreatedOrder,
  encodeHistory,
  encodeOrder,
  fromOrderQuery,
  MoveBody,
  NewOrderBody,
  OrderHistory,
  OrderPage,
  OrderParams,
  OrderQuery,
  OrderSchema,
} from './schemas.ts'
import type { Orders } from './service.ts'

/** Who may read the list and the events. */
export const ORDER_READERS = ['admin', 'service', 'devops'] as const
const WRITERS = ['admin', 'service'] as const

export const ORDER_ERRORS = {
  order_exists: { status: 409, meaning: 'Another order has this order_id.' },
  order_not_found: { status: 404, meaning: 'There is no such order.' },
} as const satisfies ErrorCodes

const { order_exists, order_not_found } = ORDER_ERRORS
const { invalid_transition, precondition_failed } = SHARED_ERRORS

/** docs/specification.md, HTTP API */
export function orderRoutes(orders: Orders): Route[] {
  return [
    route({
      method: 'POST',
      path: '/orders',
      operation: 'createOrder',
      tag: 'Orders',
      summary: 'Create an order',
      description: 'Creating the same order again returns the existing one, unchanged.',
      access: WRITERS,
      body: NewOrderBody,
      answers: {
        201: { description: 'The new order, pending.', schema: CreatedOrderSchema, hasTag: true },
        200: { description: 'The same order exists already.', schema: OrderSchema, hasTag: true },
      },
      errors: { order_exists },
      change: async (tx, { body, identity }) => {
        const { order, outcome } = await orders.create(tx, decodeNewOrder(body), identity.id)
        if (outcome === 'unchanged') return orderAnswer(order)
        return created('/orders', order.orderId, new JsonText(encodeCreatedOrder(order)), entityTag(order))
      },
    }),
    route({
      method: 'GET',
      path: '/orders',
      operation: 'listOrders',
      tag: 'Orders',
      summary: 'List orders, newest first',
      description: 'A list by the beginning of the id, or by the time of the end, is sorted by it instead.',
      access: ORDER_READERS,
      query: OrderQuery,
      answers: { 200: { description: 'A page of orders.', schema: OrderPage } },
      read: async ({ query }) => {
        const filter = fromOrderQuery(query)
        return ok(encodePage(await orders.list(filter, parsePage(query, sortOf(filter))), encodeOrder))
      },
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id',
      operation: 'getOrder',
      tag: 'Orders',
      summary: 'Read one order',
      access: ORDER_READERS,
      params: OrderParams,
      answers: {
        200: { description: 'The order; `ETag` names its version.', schema: OrderSchema, hasTag: true },
      },
      errors: { order_not_found },
      read: async ({ params }) => orderAnswer(await orders.get(params.order_id)),
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id/history',
      operation: 'getOrderHistory',
      tag: 'Orders',
      summary: 'Every change of one order, oldest first',
      access: ORDER_READERS,
      params: OrderParams,
      answers: { 200: { description: 'The changes, from the creation on.', schema: OrderHistory } },
      errors: { order_not_found },
      read: async ({ params }) =>
        ok(new JsonText(encodeHistory({ items: await orders.history(params.order_id) }))),
    }),
    route({
      method: 'PUT',
      path: '/orders/:order_id',
      operation: 'moveOrder',
      tag: 'Orders',
      summary: 'Move an order to another status',
      description:
        'pending → paid or expired, paid → shipped or completed, shipped → completed. Setting the status that the ' +
        'order already has changes nothing. With `If-Match` only that version is moved.',
      access: WRITERS,
      params: OrderParams,
      body: MoveBody,
      answers: { 200: { description: 'The order as it is now.', schema: OrderSchema, hasTag: true } },
      errors: { order_not_found, invalid_transition, precondition_failed },
      change: async (tx, { params, body, identity, headers }) =>
        orderAnswer(
          await orders.move(tx, params.order_id, body.status, identity.id, parseIfMatch(headers['if-match'])),
        ),
    }),
  ]
}

function orderAnswer(order: Order): Answer {
  return ok(orderText(order), entityTag(order))
}

function orderText(order: Order): JsonText {
  return new JsonText(encodeOrder(order))
}

function entityTag({ version }: Order): Record<string, string> {
  return { etag: `"${version}"` }
}
