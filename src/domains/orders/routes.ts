import { parsePage, toPageText } from '../../wire/page.ts'
import { parseIfMatch } from '../../wire/entity-tag.ts'
import { created, ok, route, type Answer, type Route } from '../../wire/route.ts'
import type { Order } from './model.ts'
import {
  fromNewOrderBody,
  MoveBody,
  NewOrderBody,
  OrderHistory,
  OrderPage,
  OrderParams,
  OrderQuery,
  OrderSchema,
  toHistoryWire,
  toOrderText,
} from './schemas.ts'
import type { Orders } from './service.ts'

const READERS = ['admin', 'service', 'devops'] as const
const WRITERS = ['admin', 'service'] as const

/** contract, section 3: Operations */
export function orderRoutes(orders: Orders): Route[] {
  return [
    route({
      method: 'POST',
      path: '/orders',
      operation: 'createOrder',
      tag: 'Orders',
      summary: 'Make an order',
      description: 'Making the same order again answers the one that is there; nothing changes then.',
      access: WRITERS,
      body: NewOrderBody,
      answers: {
        201: { description: 'The new order, pending.', schema: OrderSchema },
        200: { description: 'The same order was there already.', schema: OrderSchema },
      },
      errors: ['order_exists', 'idempotency_key_reused'],
      handle: async ({ body, identity }) => {
        const { order, outcome } = await orders.create(fromNewOrderBody(body), identity.id)
        return outcome === 'created' ? created(toOrderText(order), entityTag(order)) : orderAnswer(order)
      },
    }),
    route({
      method: 'GET',
      path: '/orders',
      operation: 'listOrders',
      tag: 'Orders',
      summary: 'List orders, newest first',
      access: READERS,
      query: OrderQuery,
      answers: { 200: { description: 'A page of orders.', schema: OrderPage } },
      handle: async ({ query }) => ok(toPageText(await orders.list(query, parsePage(query)), toOrderText)),
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id',
      operation: 'getOrder',
      tag: 'Orders',
      summary: 'Read one order',
      access: READERS,
      params: OrderParams,
      answers: { 200: { description: 'The order; `ETag` names its version.', schema: OrderSchema } },
      errors: ['order_not_found'],
      handle: async ({ params }) => orderAnswer(await orders.get(params.order_id)),
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id/history',
      operation: 'getOrderHistory',
      tag: 'Orders',
      summary: 'Every change of one order, oldest first',
      access: READERS,
      params: OrderParams,
      answers: { 200: { description: 'The changes, from the creation on.', schema: OrderHistory } },
      errors: ['order_not_found'],
      handle: async ({ params }) => ok(toHistoryWire(await orders.history(params.order_id))),
    }),
    route({
      method: 'PUT',
      path: '/orders/:order_id',
      operation: 'moveOrder',
      tag: 'Orders',
      summary: 'Move an order to another status',
      description:
        'pending → paid or expired, paid → shipped or completed, shipped → completed. The status that the order has ' +
        'already is answered with 200 and changes nothing. With `If-Match` the move happens only to that version.',
      access: WRITERS,
      params: OrderParams,
      body: MoveBody,
      answers: { 200: { description: 'The order as it is now.', schema: OrderSchema } },
      errors: ['order_not_found', 'invalid_transition', 'precondition_failed'],
      handle: async ({ params, body, identity, headers }) =>
        orderAnswer(
          await orders.move(params.order_id, body.status, identity.id, parseIfMatch(headers['if-match'])),
        ),
    }),
  ]
}

function orderAnswer(order: Order): Answer {
  return ok(toOrderText(order), entityTag(order))
}

function entityTag({ version }: Order): Record<string, string> {
  return { etag: `"${version}"` }
}
