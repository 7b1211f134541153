import { declaredAlarmId, type AlertTable } from '../../kernel/alerts.ts'
import { formatCents } from '../../kernel/text.ts'
import { HOUR, DAY } from '../../kernel/time.ts'
import type { Tx } from '../../store/store.ts'
import type { PaymentDeps } from './deps.ts'
import { type Attention, PAYMENT_EVENTS } from './model.ts'
import { appendChange, type PaymentRow } from './store.ts'

const UNTIL_RESOLVED = {
  endedBy: 'The payment is refunded in full, or somebody resolves it (`POST /payments/{id}/resolve`).',
  repeatEveryMs: DAY,
}

/** The alerts of payments, for `docs/reference/alerts.md`. */
export const PAYMENT_ALERTS = {
  'payment.late:*': {
    severities: ['ERROR'],
    raisedBy: 'A payment was paid after its order had ended otherwise; `*` is the id of the payment.',
    whatToDo: 'Refund it, or serve the customer in another way and resolve it.',
    ...UNTIL_RESOLVED,
  },
  'payment.duplicate:*': {
    severities: ['ERROR'],
    raisedBy: 'An order was paid twice; `*` is the id of the second payment.',
    whatToDo: 'Refund the second payment.',
    ...UNTIL_RESOLVED,
  },
  'payment.amount_mismatch:*': {
    severities: ['HIGH'],
    raisedBy:
      'Another amount was paid than the order has, so the order stays pending; `*` is the id of the payment.',
    whatToDo:
      'Compare the payment at the provider, then refund it, or move the order by hand and resolve it.',
    ...UNTIL_RESOLVED,
  },
  'payment.unknown_order:*': {
    severities: ['ERROR'],
    raisedBy:
      'Money came with the mark of this platform for a payment that it does not have, such as after a restore.',
    whatToDo: 'Find the customer by the number at the provider, refund there or here, and resolve it.',
    ...UNTIL_RESOLVED,
  },
  'payment.refund_failed:*': {
    severities: ['ERROR'],
    raisedBy: 'A refund has failed, was taken back, or has no outcome; `*` is the id of the payment.',
    endedBy:
      'A refund that was requested after that succeeds, the payment is refunded in full, or somebody resolves the payment.',
    whatToDo: 'Look at the refund at the provider, then refund again or resolve the payment.',
    repeatEveryMs: DAY,
  },
  'payment.channel_failing:*': {
    severities: ['HIGH'],
    raisedBy:
      'The provider has opened none of the last 5 payments of a channel, of those of a day; `*` is the channel. Reported again every hour.',
    endedBy:
      'The provider opens a payment, or 3 hours without another report: nobody has tried for a day, or the channel is gone.',
    whatToDo:
      'Look at `failed_reason` of the payments and at the log; `When a channel fails` of the guide to payments has the causes. Meanwhile offer another channel.',
    endsAfterMs: 3 * HOUR,
    repeatEveryMs: DAY,
  },
  'payment.bad_signature:*': {
    severities: ['WARNING'],
    raisedBy:
      'A callback of a channel has a wrong signature, which each process reports once an hour at most; `*` is the channel.',
    endedBy: '3 hours without another one.',
    whatToDo:
      'Compare the keys of the channel with those of the provider. If they are right, somebody forges callbacks.',
    endsAfterMs: 3 * HOUR,
  },
  'payment.reconciliation:*': {
    severities: ['ERROR'],
    raisedBy:
      'The books of a provider differ from the payments of a day, or have no bill; `*` is the channel.',
    endedBy: 'A later reconciliation of each such day matches.',
    whatToDo: 'Look at the differences of the reconciliation, correct them, and reconcile the day again.',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable

/** The identity of an alert; `end` is the id or the channel in the place of `*`. */
export function paymentAlarm(alert: keyof typeof PAYMENT_ALERTS, end: string) {
  return { alarmId: declaredAlarmId(PAYMENT_ALERTS, alert, end), source: 'platform.payments' }
}

const ATTENTION_TEXTS: Readonly<Record<Attention, { readonly reason: string; readonly text: string }>> = {
  late: {
    reason: 'it was paid too late',
    text: 'was paid after its order had ended otherwise. Refund it, or serve the customer and resolve it.',
  },
  duplicate: {
    reason: 'its order was paid twice',
    text: 'has paid an order that another payment has paid already. Refund it.',
  },
  amount_mismatch: {
    reason: 'another amount was paid',
    text: 'Its order stays pending. Compare it at the provider, then refund or resolve it.',
  },
  unknown_order: {
    reason: 'it is not known here',
    text: 'was paid at the provider, and is not known here. Find its customer at the provider, then refund or resolve it.',
  },
}

/** Records that a payment needs a person, with its event and its alert. */
export async function raiseAttention(
  tx: Tx,
  { alerts, clock, events }: Pick<PaymentDeps, 'alerts' | 'clock' | 'events'>,
  payment: PaymentRow,
  attention: Attention,
  actor: string,
): Promise<void> {
  const { id, channel, number, orderId } = payment
  await appendChange(tx, { paymentId: id, at: clock.now(), change: 'attention', actor, note: attention })
  await events.append(tx, { type: PAYMENT_EVENTS.attention, subject: id, data: payment })
  const { reason, text } = ATTENTION_TEXTS[attention]
  const order = orderId === null ? '' : `, order ${orderId}`
  const mismatch = attention === 'amount_mismatch' ? `${describeMismatch(payment)}. ` : ''
  await alerts.raise(tx, {
    ...paymentAlarm(`payment.${attention}:*`, id),
    title: `A payment needs a person: ${reason}`,
    body: `The payment ${id} (${number} at ${channel}${order}) ${mismatch}${text}`,
    severity: attention === 'amount_mismatch' ? 'HIGH' : 'ERROR',
  })
}

function describeMismatch({ paidCents, amountCents, currency }: PaymentRow): string {
  if (paidCents === amountCents) return `was paid in another currency than ${currency}`
  const paid = paidCents === null ? 'an unknown amount' : formatCents(paidCents)
  return `was paid with ${paid} instead of ${formatCents(amountCents)} ${currency}`
}

/** Ends an alert of a payment. */
export async function recoverPayment(
  tx: Tx,
  { alerts }: Pick<PaymentDeps, 'alerts'>,
  kind: Attention | 'refund_failed',
  { id }: PaymentRow,
  reason: string,
): Promise<void> {
  await alerts.recoverIfRaised(tx, {
    ...paymentAlarm(`payment.${kind}:*`, id),
    title: `The payment ${id} needs nobody any more`,
    body: reason,
  })
}
