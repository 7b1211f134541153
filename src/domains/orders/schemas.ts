import { Type, type Static } from 'typebox'
import { invalidField } from '../../kernel/errors.ts'
import { parseRfc3339, toRfc3339 } from '../../kernel/time.ts'
import { Fields, GivenTime, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../wire/schemas.ts'
import { JsonText } from '../../kernel/json-text.ts'
import { PageOf, PageQuery } from '../../wire/page.ts'
import { ORDER_STATUSES, type NewOrder, type Order, type OrderChange } from './model.ts'

const Status = OneOf(ORDER_STATUSES, 'Where the order stands.')
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
export type OrderWire = Static<typeof OrderSchema>

export const OrderPage = PageOf(OrderSchema)

export const NewOrderBody = Fields({
  order_id: OrderId,
  platform: Platform,
  amount_cents: AmountCents,
  expires_at: Type.Optional(
    Type.Unsafe<string>({
      ...GivenTime,
      description: 'RFC 3339 with any offset; 15 minutes from now when left out.',
    }),
  ),
})

export const MoveBody = Fields({ status: Status })

// Any text is looked up: an id that no order can have is an order that is not there.
export const OrderParams = Fields({ order_id: Text({ minLength: 1, maxLength: 1_024 }) })

export const OrderQuery = Fields({
  status: Type.Optional(Status),
  platform: Type.Optional(Platform),
  ...PageQuery,
})

export const OrderHistory = Fields({
  items: Type.Array(
    Fields({
      at: Timestamp,
      from: Nullable<Order['status']>({ type: 'string', description: 'Null for the creation.' }),
      to: Status,
      actor: Type.String({ description: 'Id of the caller, or `worker`.' }),
    }),
  ),
})

export function fromNewOrderBody(body: Static<typeof NewOrderBody>): NewOrder {
  const { order_id, platform, amount_cents, expires_at } = body
  const order = { orderId: order_id, platform, amountCents: amount_cents }
  if (expires_at === undefined) return order
  const expiresAt = parseRfc3339(expires_at)
  if (expiresAt === undefined)
    throw invalidField('expires_at', 'must be a time in RFC 3339, such as 2026-01-31T02:00:00Z')
  return { ...order, expiresAt }
}

function toOrderWire(order: Order): OrderWire {
  return {
    order_id: order.orderId,
    platform: order.platform,
    amount_cents: order.amountCents,
    status: order.status,
    expires_at: toRfc3339(order.expiresAt),
    created_at: toRfc3339(order.createdAt),
    updated_at: toRfc3339(order.updatedAt),
    paid_at: toNullable(order.paidAt),
    shipped_at: toNullable(order.shippedAt),
    completed_at: toNullable(order.completedAt),
    expired_at: toNullable(order.expiredAt),
  }
}

const texts = new WeakMap<Order, JsonText>()

/** The order as JSON for answers, pages and events; written once for each version of it that is kept in memory. */
export function toOrderText(order: Order): JsonText {
  const known = texts.get(order)
  if (known) return known
  const text = new JsonText(JSON.stringify(toOrderWire(order)))
  texts.set(order, text)
  return text
}

export function toHistoryWire(changes: readonly OrderChange[]): Static<typeof OrderHistory> {
  return { items: changes.map(({ at, from, to, actor }) => ({ at: toRfc3339(at), from, to, actor })) }
}

function toNullable(at: number | null): string | null {
  return at === null ? null : toRfc3339(at)
}
