import { VALUES } from '../../../api/generated.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { eventObject } from '../../../api/event-stream.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import type { StatusBadgeProps, Tone } from '../../../parts/status-badge.tsx'
import { call, live } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { paymentWords } from './words.ts'

export type Payment = AnswerOf<'getPayment'>
export type PaymentChange = AnswerOf<'getPaymentHistory'>['items'][number]
export type Refund = AnswerOf<'listRefunds'>['items'][number]

export const PAYMENT_TONES: Readonly<Record<Payment['status'], Tone>> = {
  creating: 'warning',
  open: 'active',
  paid: 'good',
  closed: 'quiet',
  failed: 'danger',
}

/** How a payment is shown: one that needs a person by the reason for that, one of which money went back by how much. */
export function paymentBadge(payment: Payment): StatusBadgeProps & { readonly tone: Tone } {
  const { status, attention, needs_person, refunded_cents } = payment
  const { statuses, attentions, refundFailed, refunded, partlyRefunded } = paymentWords()
  if (needs_person)
    return { tone: 'danger', label: attention === null ? refundFailed : attentions[attention] }
  if (refunded_cents === 0) return { tone: PAYMENT_TONES[status], label: statuses[status] }
  if (leftCents(payment) <= 0) return { tone: 'quiet', label: refunded }
  return { tone: 'warning', label: partlyRefunded }
}

/** The most that may still be refunded: a payment does not show the refunds that are under way, which the API counts, too. */
export function leftCents({ amount_cents, paid_cents, refunded_cents }: Payment): number {
  return (paid_cents ?? amount_cents) - refunded_cents
}

export const REFUND_TONES: Readonly<Record<Refund['status'], Tone>> = {
  pending: 'active',
  succeeded: 'good',
  failed: 'danger',
}

const PAGE_LENGTH = 50
const PREFIX = 'payment.'

/** The payments, as the filters of the address say. */
export const paymentList = listOf('listPayments', PREFIX, {
  filters: [
    { name: 'attention', kind: 'choice', values: VALUES.listPayments.attention },
    { name: 'status', kind: 'choice', values: VALUES.listPayments.status },
    { name: 'channel', kind: 'text' },
    { name: 'order_id', kind: 'text' },
    { name: 'created', kind: 'period' },
  ],
  keyOf: ({ id }) => id,
})

/** The payments that need a person, newest first. */
export const attentionPayments = resourceOf('listPayments', PREFIX, () => ({
  query: { attention: 'any' as const, limit: PAGE_LENGTH },
}))

/** The names of the configured channels. */
export const channelNames: ResourceSource<{ readonly channels: readonly string[] }> = {
  live,
  prefix: 'payment.channel.',
  isAbout: () => false,
  async read(_, signal) {
    const overview = await call('getOverview', {}, signal)
    return overview.ok
      ? { ...overview, value: { channels: overview.value.payments?.channels ?? [] } }
      : overview
  },
}

/** One payment. */
export const paymentResource = resourceOf('getPayment', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => paymentIn(event)?.id === id,
})

export const paymentHistory: ResourceSource<AnswerOf<'getPaymentHistory'>> = {
  ...paymentResource,
  read: (id, signal) => call('getPaymentHistory', { path: { id } }, signal),
}

export const paymentRefunds: ResourceSource<AnswerOf<'listRefunds'>> = {
  ...paymentResource,
  read: (id, signal) => call('listRefunds', { path: { id }, query: { limit: PAGE_LENGTH } }, signal),
}

/** The payments of an order, newest first. */
export const orderPayments = resourceOf(
  'listPaymentsOfOrder',
  PREFIX,
  (order_id) => ({ path: { order_id }, query: { limit: PAGE_LENGTH } }),
  { isAbout: (event, id) => paymentIn(event)?.order_id === id },
)

/** The payment that an event is about; an event of a reconciliation has none. */
const paymentIn = eventObject('Payment')
