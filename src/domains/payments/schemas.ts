import { Type, type Static } from 'typebox'
import { encoderOf } from '../../wire/codec.ts'
import { TimedPageQuery } from '../../wire/page.ts'
import {
  Fields,
  Nullable,
  NullableOneOf,
  NullableTimestamp,
  OneOf,
  SeveralOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import { ATTENTIONS, needsPerson, PAYMENT_STATUSES, REFUND_STATUSES } from './model.ts'
import type { PaymentRow } from './store.ts'

const Status = OneOf(PAYMENT_STATUSES, 'The status of the payment.')
const Cents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [4990] })
/** Any text of that length is looked up, so that an unknown one is 404. */
export const Channel = Text({
  minLength: 1,
  maxLength: 64,
  description: 'The name of a channel of the configuration.',
})

export const PaymentSchema = Fields(
  {
    id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
    order_id: Nullable<string>({ type: 'string', description: 'Null for money without an order.' }),
    channel: Type.String(),
    status: Status,
    amount_cents: Cents,
    currency: Type.String({ description: 'ISO 4217.', examples: ['CNY'] }),
    number: Type.String({ description: 'Its name at the provider.' }),
    provider_id: Nullable<string>({ type: 'string', description: 'The name that the provider gives it.' }),
    paid_cents: Nullable<number>({
      ...Cents,
      description: 'What the provider has taken: of it refunds are made. Null until it is paid.',
    }),
    refunded_cents: Cents,
    attention: NullableOneOf(ATTENTIONS, 'Why it needs a person.'),
    needs_person: Type.Boolean({
      description:
        'Whether somebody has something to resolve: `attention`, or a refund that has failed or has no outcome.',
    }),
    created_at: Timestamp,
    paid_at: NullableTimestamp,
    closed_at: NullableTimestamp,
    failed_reason: Nullable<string>({
      type: 'string',
      description: 'The code of the provider, or `unclear`.',
    }),
    version: Version,
  },
  { $id: 'Payment' },
)

const Action = Fields({
  type: OneOf(['redirect', 'qr_code'], 'What the payer does with the address.'),
  url: Type.String(),
  expires_at: Timestamp,
})

/** The answer to the creation of a payment. */
export const NewPaymentSchema = Fields(
  {
    ...PaymentSchema.properties,
    action: Type.Optional(Type.Unsafe<Static<typeof Action> | null>({ ...Action, type: ['object', 'null'] })),
  },
  { $id: 'NewPayment' },
)

export const NewPaymentBody = Fields({
  channel: Channel,
  return_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      pattern: '^https?://[!-~]+$',
      description: 'Where the payer comes back to, if the provider leads there.',
      examples: ['https://shop.example.org/thanks'],
    }),
  ),
})

export const PaymentQuery = Fields({
  status: Type.Optional(SeveralOf(PAYMENT_STATUSES, 'Only payments with this status.')),
  channel: Type.Optional(Channel),
  order_id: Type.Optional(Text({ minLength: 1, maxLength: 1_024 })),
  attention: Type.Optional(
    OneOf(
      ['any', ...ATTENTIONS],
      'Only payments that need a person for this reason, or for any (`needs_person`).',
    ),
  ),
  ...TimedPageQuery,
})

export const PaymentHistory = Fields({
  items: Type.Array(
    Fields({
      at: Timestamp,
      change: Type.String({
        description:
          'A status, or `created`, `close_requested`, `attention`, `resolved`, `refund_requested`, `refunded`, `refund_failed`, `refund_unclear`.',
      }),
      actor: Type.String({ description: 'Id of the caller, `worker`, or `payment:<channel>`.' }),
      note: Nullable<string>({ type: 'string' }),
    }),
  ),
})

export const RefundSchema = Fields(
  {
    id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
    payment_id: Type.String(),
    channel: Type.String(),
    number: Type.String({ description: 'Its name at the provider.' }),
    status: OneOf(REFUND_STATUSES, 'A provider may take a refund back: then it has failed after all.'),
    amount_cents: Cents,
    reason: Type.String(),
    provider_id: Nullable<string>({ type: 'string' }),
    failed_reason: Nullable<string>({ type: 'string' }),
    created_at: Timestamp,
    created_by: Type.String(),
    finished_at: NullableTimestamp,
  },
  { $id: 'Refund' },
)

// docs/specification.md, Payments: WeChat Pay takes 80 bytes
const LONGEST_REASON = 80

export const NewRefundBody = Fields({
  amount_cents: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'All that is left when left out.',
    }),
  ),
  reason: Text({
    minLength: 1,
    maxLength: LONGEST_REASON,
    description: 'The provider may show it to the customer.',
  }),
})

export const ResolveBody = Fields({
  note: Text({ minLength: 1, maxLength: 1_000, description: 'What was done; it is kept in the history.' }),
})

export const encodePayment = encoderOf(PaymentSchema, { needs_person: needsPerson })

/** The payment with what the payer does; null while there is nothing to do. */
export const encodeNewPayment = encoderOf(NewPaymentSchema, {
  needs_person: needsPerson,
  action: ({
    status,
    actionType: type,
    actionUrl: url,
    actionExpiresAt: expiresAt,
    orderEndsAt,
  }: PaymentRow) =>
    status === 'open' && type !== null && url !== null && expiresAt !== null
      ? { type, url, expiresAt: Math.min(expiresAt, orderEndsAt ?? expiresAt) }
      : null,
})

export const encodePaymentHistory = encoderOf(PaymentHistory)
export const encodeRefund = encoderOf(RefundSchema)
