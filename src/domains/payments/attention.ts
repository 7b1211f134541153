import type { Clock } from '../../kernel/clock.ts'
import { declaredAlarmId } from '../../kernel/alerts.ts'
import { formatCents } from '../../kernel/text.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { Tx } from '../../store/store.ts'
import { PAYMENT_ALERTS } from './alerts.ts'
import { type Attention, type Payment, PAYMENT_EVENTS } from './model.ts'
import { appendChange, type PaymentRow } from './store.ts'

interface AttentionDeps {
  readonly clock: Clock
  readonly events: EventSink<Payment>
  readonly alerts: RecoverableAlerts
}

/** Records that a payment needs a person, with its event and its alert. */
export async function raiseAttention(
  tx: Tx,
  { alerts, clock, events }: AttentionDeps,
  payment: PaymentRow,
  attention: Attention,
  actor: string,
): Promise<void> {
  const change = { paymentId: payment.id, at: clock.now(), change: 'attention', actor, note: attention }
  await appendChange(tx, change)
  await events.append(tx, { type: PAYMENT_EVENTS.attention, subject: payment.id, data: payment })
  await alerts.raise(tx, attentionAlert(payment, attention))
}

const ATTENTION_TITLES: Readonly<Record<Attention, string>> = {
  late: 'it was paid too late',
  duplicate: 'its order was paid twice',
  amount_mismatch: 'another amount was paid',
  unknown_order: 'it is not known here',
}

const ATTENTION_TEXTS: Readonly<Record<Attention, string>> = {
  late: 'was paid after its order had ended otherwise. Refund it, or serve the customer and resolve it.',
  duplicate: 'has paid an order that another payment has paid already. Refund it.',
  amount_mismatch: 'Its order stays pending. Compare it at the provider, then refund or resolve it.',
  unknown_order:
    'was paid at the provider, and is not known here. Find its customer at the provider, then refund or resolve it.',
}

function mismatchOf({ paidCents, amountCents, currency }: PaymentRow): string {
  if (paidCents === amountCents) return `was paid in another currency than ${currency}`
  const paid = paidCents === null ? 'an unknown amount' : formatCents(paidCents)
  return `was paid with ${paid} instead of ${formatCents(amountCents)} ${currency}`
}

function attentionAlert(payment: PaymentRow, attention: Attention) {
  const { id, channel, number, orderId } = payment
  const mismatch = attention === 'amount_mismatch' ? `${mismatchOf(payment)}. ` : ''
  return {
    alarmId: declaredAlarmId(PAYMENT_ALERTS, `payment.${attention}:*`, id),
    source: 'platform.payments',
    title: `A payment needs a person: ${ATTENTION_TITLES[attention]}`,
    body: `The payment ${id} (${number} at ${channel}${orderId === null ? '' : `, order ${orderId}`}) ${mismatch}${ATTENTION_TEXTS[attention]}`,
    severity: attention === 'amount_mismatch' ? 'HIGH' : 'ERROR',
  } as const
}
