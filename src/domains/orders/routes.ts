import { Type, type Static } from 'typebox'
import { JsonText } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { bodyWriter, decoderOf, encoderOf } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedPageQuery } from '../../wire/page.ts'
import { created, ok, routeOf, versioned, type Answer, type Route } from '../../wire/route.ts'
import {
  Fields,
  GivenTime,
  Nullable,
  NullableTimestamp,
  OneOf,
  PathName,
  SeveralOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import { sortOf, type OrderFilter } from './list.ts'
import { ORDER_STATUSES, type NewOrder, type Order, type OrderStatus } from './model.ts'
import type { Orders } from './service.ts'
import { orderRow } from './store.ts'

const route = routeOf('Orders')

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
      summary: 'Create an order',
      description: 'Creating the same order again returns the existing one, unchanged.',
      access: WRITERS,
      body: NewOrderBody,
      answers: {
        201: versioned('The new order, pending.', CreatedOrderSchema),
        200: versioned('The same order exists already.', OrderSchema),
      },
      errors: { order_exists },
      touches: ({ body }) => [orderRow(body.order_id)],
      change: async (tx, { body, identity }) => {
        const { order, outcome } = await orders.create(tx, decodeNewOrder(body), identity.id)
        if (outcome === 'unchanged') return orderAnswer(order)
        const createdOrder = new JsonText(encodeCreatedOrder(order))
        return created('/orders', order.orderId, createdOrder, entityTag(order.version))
      },
    }),
    route({
      method: 'GET',
      path: '/orders',
      operation: 'listOrders',
      summary: 'List orders, newest first',
      description:
        'A list by the beginning of the id, by the expiry, by the last change or by the time of the end is sorted by it instead.',
      access: ORDER_READERS,
      query: OrderQuery,
      answers: { 200: { description: 'A page of orders.', schema: PageOf(OrderSchema) } },
      read: async ({ query }) => {
        const filter = filterOf(query)
        return ok(encodePage(await orders.list(filter, parsePage(query, sortOf(filter))), encodeOrder))
      },
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id',
      operation: 'getOrder',
      summary: 'Read one order',
      access: ORDER_READERS,
      params: OrderParams,
      answers: { 200: versioned('The order; `ETag` names its version.', OrderSchema) },
      errors: { order_not_found },
      read: async ({ params }) => orderAnswer(await orders.get(params.order_id)),
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id/history',
      operation: 'getOrderHistory',
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
      summary: 'Move an order to another status',
      description:
        'pending → paid or expired, paid → shipped or completed, shipped → completed. Setting the status that the ' +
        'order already has changes nothing. With `If-Match` only that version is moved.',
      access: WRITERS,
      params: OrderParams,
      body: MoveBody,
      answers: { 200: versioned('The order as it is now.', OrderSchema) },
      errors: { order_not_found, invalid_transition, precondition_failed },
      touches: ({ params }) => [orderRow(params.order_id)],
      change: async (tx, { params, body, identity, headers }) => {
        const versions = parseIfMatch(headers['if-match'])
        return orderAnswer(await orders.move(tx, params.order_id, body.status, identity.id, versions))
      },
    }),
  ]
}

function orderAnswer(order: Order): Answer {
  return ok(textOf(order), entityTag(order.version))
}

const Status = OneOf(ORDER_STATUSES, 'The status of the order.')
const OrderId = PathName('A-Za-z0-9._:-', 64, {
  description: 'The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ : -`, not `.` or `..`.',
  examples: ['order-1001'],
})
const Platform = Text({
  minLength: 1,
  maxLength: 64,
  description: 'Where the order came from.',
  examples: ['live'],
})
const AmountCents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [4990] })

export const OrderSchema = Fields(
  {
    order_id: OrderId,
    platform: Platform,
    amount_cents: AmountCents,
    status: Status,
    expires_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
    paid_at: NullableTimestamp,
    shipped_at: NullableTimestamp,
    completed_at: NullableTimestamp,
    expired_at: NullableTimestamp,
    version: Version,
  },
  { $id: 'Order' },
)

/** The answer to a creation. */
const CreatedOrderSchema = Fields(
  {
    ...OrderSchema.properties,
    warning: Type.Optional(
      Fields({
        code: OneOf(['expires_at_in_past'], 'The order was due when it came: perhaps a clock is wrong.'),
        message: Type.String({ description: 'One sentence, with the time of the platform.' }),
      }),
    ),
  },
  { $id: 'CreatedOrder' },
)

const NewOrderBody = Fields({
  order_id: OrderId,
  platform: Platform,
  amount_cents: AmountCents,
  expires_at: Type.Optional(GivenTime('RFC 3339 with any offset; 15 minutes from now when left out.')),
})

const MoveBody = Fields({ status: Status })

// Any text is accepted: an id that no order can have gets order_not_found, not a validation error.
const OrderParams = Fields({ order_id: Text({ minLength: 1, maxLength: 1_024 }) })

const SORTED_BY_END = 'The list is sorted by that time then, the latest first. Write `+` as `%2B`.'
const SORTED_BY_UPDATE =
  'The list is sorted by the last change then, the earliest first; an order that changes meanwhile comes again at its end. Write `+` as `%2B`.'
const SORTED_BY_EXPIRY = 'The list is sorted by that time then, the earliest first. Write `+` as `%2B`.'

const OrderFilterSchema = Fields({
  status: Type.Optional(SeveralOf(ORDER_STATUSES, 'Only orders with this status.')),
  platform: Type.Optional(Platform),
  archived: Type.Optional(
    Type.Boolean({
      description: 'The orders of the archive, instead of the others (`orders.archive_after`).',
    }),
  ),
  id_prefix: Type.Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      description: 'Only orders whose id begins with this text, sorted by the id.',
      examples: ['order-10'],
    }),
  ),
  ended_from: Type.Optional(
    GivenTime(`Only orders that were completed or that expired at this time or later. ${SORTED_BY_END}`),
  ),
  ended_to: Type.Optional(
    GivenTime(`Only orders that were completed or that expired before this time. ${SORTED_BY_END}`),
  ),
  updated_from: Type.Optional(
    GivenTime(`Only orders that were created or changed at this time or later. ${SORTED_BY_UPDATE}`),
  ),
  updated_to: Type.Optional(
    GivenTime(`Only orders that were created or changed last before this time. ${SORTED_BY_UPDATE}`),
  ),
  expires_from: Type.Optional(
    GivenTime(`Only pending orders that expire at this time or later. ${SORTED_BY_EXPIRY}`),
  ),
  expires_to: Type.Optional(
    GivenTime(`Only pending orders that expire before this time. ${SORTED_BY_EXPIRY}`),
  ),
})

const OrderQuery = Fields({
  ...OrderFilterSchema.properties,
  sort: Type.Optional(
    OneOf(
      ['created_at', 'expires_at'],
      '`created_at` (default): newest first. `expires_at`: only pending orders, the earliest first.',
    ),
  ),
  ...TimedPageQuery,
})

const decodeOrderFilter = decoderOf<OrderFilter>(OrderFilterSchema)

/** Throws `validation_failed` for a time that does not exist. */
function filterOf(query: Static<typeof OrderQuery>): OrderFilter {
  return { ...decodeOrderFilter(query), ...(query.sort === 'expires_at' && { due: true }) }
}

const OrderHistory = Fields({
  items: Type.Array(
    Fields({
      at: Timestamp,
      from: Nullable<OrderStatus>({ type: 'string', description: 'Null for the creation.' }),
      to: Status,
      actor: Type.String({ description: 'Id of the caller, or `worker`.' }),
    }),
  ),
})

const decodeNewOrder = decoderOf<NewOrder>(NewOrderBody)

/** The order in responses, pages and events. */
export const encodeOrder = encoderOf(OrderSchema)
const textOf = bodyWriter(encodeOrder)

/** The order in the answer to its creation. */
const encodeCreatedOrder = encoderOf(CreatedOrderSchema, {
  warning: ({ expiresAt, createdAt }: Order) =>
    expiresAt <= createdAt
      ? {
          code: 'expires_at_in_past',
          message: `expires_at is in the past, so the order is due at once; the clock of the platform says ${toRfc3339(createdAt)}.`,
        }
      : undefined,
})

const encodeHistory = encoderOf(OrderHistory)
