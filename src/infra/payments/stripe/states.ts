import { SECOND } from '../../../kernel/time.ts'
import type { ProviderPayment, ProviderRefund } from '../../../ports/payments.ts'
import { codeOf, integerOf, objectMembers, textOf, type Members } from '../json.ts'

export const NO_PAYMENT: ProviderPayment = {
  status: 'unknown',
  providerId: undefined,
  amountCents: undefined,
  currency: undefined,
  paidAt: undefined,
  reason: undefined,
}

/** The state of a Checkout Session, also of one whose intent is expanded. */
export function toPayment(session: Members): ProviderPayment {
  const intent = objectMembers(session['payment_intent'])
  const status = statusOf(session, intent)
  const chargedAt = integerOf(objectMembers(intent['latest_charge'])['created'])
  const isPaid = status === 'paid'
  return {
    status,
    providerId: textOf(session['id']),
    amountCents: isPaid ? integerOf(session['amount_total']) : undefined,
    currency: isPaid ? textOf(session['currency'])?.toUpperCase() : undefined,
    paidAt: isPaid && chargedAt !== undefined ? chargedAt * SECOND : undefined,
    reason: status === 'failed' ? codeOf(objectMembers(intent['last_payment_error'])['code']) : undefined,
  }
}

// States of an intent whose session is complete: nothing more comes.
const ENDED_WITHOUT_MONEY: readonly unknown[] = ['requires_payment_method', 'canceled']

function statusOf(session: Members, intent: Members): ProviderPayment['status'] {
  if (session['payment_status'] === 'paid') return 'paid'
  if (session['status'] === 'expired') return 'closed'
  const isComplete = session['status'] === 'complete'
  return isComplete && ENDED_WITHOUT_MONEY.includes(intent['status']) ? 'failed' : 'open'
}

const REFUND_STATUSES: Readonly<Record<string, RefundState['status']>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
}

type RefundState = ProviderRefund & { readonly status: Exclude<ProviderRefund['status'], 'unknown'> }

/** The state of a refund. One that waits for the payer is pending. */
export function toRefund(refund: Members): RefundState {
  const status = REFUND_STATUSES[textOf(refund['status']) ?? ''] ?? 'pending'
  return { status, providerId: textOf(refund['id']), reason: codeOf(refund['failure_reason']) }
}
