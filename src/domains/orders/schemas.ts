import { Type, type Static } from 'typebox'
import { decoderOf, encoderOf, parseTime } from '../../wire/codec.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import {
  Fields,
  GivenTime,
  Nullable,
  NullableTimestamp,
  OneOf,
  PathName,
  Text,
  Timestamp,
} from '../../wire/schemas.ts'
import { ORDER_STATUSES, type NewOrder, type Order, type OrderStatus } from './model.ts'
import type { OrderFilter } from './list.ts'

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
  },
  { $id: 'Order' },
)

/** The answer to a creation. */
export const CreatedOrderSchema = Fields(
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

export const OrderPage = PageOf(OrderSchema)

export const NewOrderBody = Fields({
  order_id: OrderId,
  platform: Platform,
  amount_cents: AmountCents,
  expires_at: Type.Optional(GivenTime('RFC 3339 with any offset; 15 minutes from now when left out.')),
})

export const MoveBody = Fields({ status: Status })

// Any text is accepted: an id that no order can have gets order_not_found, not a validation error.
export const OrderParams = Fields({ order_id: Text({ minLength: 1, maxLength: 1_024 }) })

const SORTED_BY_END = 'The list is sorted by that time then, the latest first. Write `+` as `%2B`.'

export const OrderQuery = Fields({
  status: Type.Optional(Status),
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
  ...TimedPageQuery,
})

/** Throws `validation_failed` for a time that does not exist. */
export function fromOrderQuery(query: Static<typeof OrderQuery>): OrderFilter {
  const { status, platform, archived, id_prefix, ended_from, ended_to } = query
  return {
    ...(status && { status }),
    ...(platform && { platform }),
    ...(archived && { archived }),
    ...(id_prefix && { idPrefix: id_prefix }),
    ...(ended_from !== undefined && { endedFrom: parseTime('ended_from', ended_from) }),
    ...(ended_to !== undefined && { endedTo: parseTime('ended_to', ended_to) }),
  }
}

export const OrderHistory = Fields({
  items: Type.Array(
    Fields({
      at: Timestamp,
      from: Nullable<OrderStatus>({ type: 'string', description: 'Null for the creation.' }),
      to: Status,
      actor: Type.String({ description: 'Id of the caller, or `worker`.' }),
    }),
  ),
})

export const decodeNewOrder = decoderOf<NewOrder>(NewOrderBody)

/** The order in responses, pages and events. */
export const encodeOrder = encoderOf(OrderSchema)

/** The order in the answer to its creation. */
export const encodeCreatedOrder = encoderOf(CreatedOrderSchema, {
  warning: ({ expiresAt, createdAt }: Order) =>
    expiresAt <= createdAt
      ? {
          code: 'expires_at_in_past',
          message: `expires_at is in the past, so the order is due at once; the clock of the platform says ${toRfc3339(createdAt)}.`,
        }
      : undefined,
})

export const encodeHistory = encoderOf(OrderHistory)
