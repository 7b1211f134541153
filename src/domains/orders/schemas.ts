import { Type } from 'typebox'
import { decoderOf, encoderOf } from '../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../wire/page.ts'
import { Fields, GivenTime, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import { ORDER_STATUSES, type NewOrder, type OrderStatus } from './model.ts'

const Status = OneOf(ORDER_STATUSES, 'The status of the order.')
const OrderId = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,64}$',
  description: 'The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ : -`.',
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

export const OrderQuery = Fields({
  status: Type.Optional(Status),
  platform: Type.Optional(Platform),
  archived: Type.Optional(
    Type.Boolean({
      description: 'The orders of the archive, instead of the others (`orders.archive_after`).',
    }),
  ),
  ...TimedPageQuery,
})

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

export const encodeHistory = encoderOf(OrderHistory)
