import { Type } from 'typebox'
import { encoderOf } from '../../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../../wire/page.ts'
import { Fields, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../../wire/schemas.ts'
import { Channel } from '../schemas.ts'
import { DIFFERENCE_KINDS, RECONCILIATION_STATUSES } from './model.ts'

const BookDate = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  maxLength: 10,
  description: 'A day in the time zone of the books.',
  examples: ['2026-01-31'],
})

export const ReconciliationSchema = Fields(
  {
    id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
    channel: Type.String(),
    date: BookDate,
    status: OneOf(RECONCILIATION_STATUSES),
    matched: Type.Integer({ description: 'Rows of the bill that are the same here.' }),
    differences: Type.Integer(),
    error: Nullable<string>({ type: 'string', description: '`no_bill`, or a sentence.' }),
    created_at: Timestamp,
    finished_at: NullableTimestamp,
    requested_by: Type.String(),
  },
  { $id: 'Reconciliation' },
)

export const ReconciliationPage = PageOf(ReconciliationSchema)
export const NewReconciliationBody = Fields({ channel: Channel, date: BookDate })

const Text = Nullable<string>({ type: 'string' })
const Cents = Nullable<number>({ type: 'integer' })

const DifferenceSchema = Fields(
  {
    kind: OneOf(DIFFERENCE_KINDS),
    type: OneOf(['payment', 'refund']),
    number: Type.String(),
    payment_id: Text,
    here_status: Text,
    here_cents: Cents,
    there_status: Text,
    there_cents: Cents,
    provider_id: Text,
  },
  { $id: 'PaymentDifference' },
)

export const DifferencePage = PageOf(DifferenceSchema)

const { limit, cursor } = TimedPageQuery
export const DifferenceQuery = Fields({
  kind: Type.Optional(OneOf(DIFFERENCE_KINDS, 'Only differences of this kind.')),
  limit,
  cursor,
})

export const encodeReconciliation = encoderOf(ReconciliationSchema)
export const encodeDifference = encoderOf(DifferenceSchema)
