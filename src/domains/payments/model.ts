import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import type { PaymentReference, ProviderRefund } from '../../ports/payments.ts'

/** The states of a payment (docs/specification.md, Payments). */
export const PAYMENT_STATUSES = ['creating', 'open', 'paid', 'closed', 'failed'] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** The allowed moves. Money can come for a payment that was closed, or whose creation was unclear. */
export const PAYMENT_MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  creating: ['open', 'paid', 'closed', 'failed'],
  open: ['paid', 'closed', 'failed'],
  paid: [],
  closed: ['paid'],
  failed: ['paid'],
}

/** docs/specification.md, Events */
export const PAYMENT_EVENTS = {
  created: 'payment.created',
  paid: 'payment.paid',
  failed: 'payment.failed',
  closed: 'payment.closed',
  refunded: 'payment.refunded',
  attention: 'payment.attention',
  reconciled: 'payment.reconciled',
} as const

/** Why a paid payment needs a person. */
export const ATTENTIONS = ['late', 'duplicate', 'amount_mismatch', 'unknown_order'] as const
export type Attention = (typeof ATTENTIONS)[number]

/** All times are epoch milliseconds, UTC. */
export interface Payment {
  readonly id: string
  /** Null for money without an order. */
  readonly orderId: string | null
  readonly channel: string
  readonly status: PaymentStatus
  readonly amountCents: number
  readonly currency: string
  /** The number of the payment at the provider. */
  readonly number: string
  readonly providerId: string | null
  readonly paidCents: number | null
  readonly refundedCents: number
  readonly attention: Attention | null
  /** A refund has failed, or has no outcome, and nothing has made up for it. */
  readonly hasFailedRefund: boolean
  readonly createdAt: number
  readonly createdBy: string
  readonly paidAt: number | null
  readonly closedAt: number | null
  readonly failedReason: string | null
  readonly actionType: 'redirect' | 'qr_code' | null
  readonly actionUrl: string | null
  readonly actionExpiresAt: number | null
  readonly orderEndsAt: number | null
  readonly isClosing: boolean
  /** 1 at the creation, larger after each change. */
  readonly version: number
}

/** One entry of the history of a payment. */
export interface PaymentChange {
  readonly at: number
  readonly change: string
  readonly actor: string
  readonly note: string | null
}

/** The attention of a payment that nobody has resolved since it was raised; null if there is none. */
export function unresolvedAttention(history: readonly PaymentChange[]): Attention | null {
  const last = history.findLast(({ change }) => change === 'attention' || change === 'resolved')
  return last?.change === 'attention'
    ? (ATTENTIONS.find((attention) => attention === last.note) ?? null)
    : null
}

/** Whether a person has something to resolve. */
export function needsPerson(payment: Pick<Payment, 'attention' | 'hasFailedRefund'>): boolean {
  return payment.attention !== null || payment.hasFailedRefund
}

/** The amount of which refunds are made. */
export function paidCentsOf({ paidCents, amountCents }: Pick<Payment, 'paidCents' | 'amountCents'>): number {
  return paidCents ?? amountCents
}

export function isWhollyRefunded(payment: Payment): boolean {
  return payment.refundedCents === paidCentsOf(payment)
}

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed'] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]

/** A provider may take a refund back days after it has succeeded. */
const REFUND_MOVES: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  pending: ['succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
}

export interface Refund {
  readonly id: string
  readonly paymentId: string
  readonly channel: string
  readonly number: string
  readonly status: RefundStatus
  readonly amountCents: number
  readonly reason: string
  readonly providerId: string | null
  readonly failedReason: string | null
  readonly createdAt: number
  readonly createdBy: string
  readonly finishedAt: number | null
  readonly isSent: boolean
}

export function isUnfinished({ status }: Payment): boolean {
  return status === 'creating' || status === 'open'
}

/** An id as the name at a provider: 32 hex digits. */
export function numberOf(id: string): string {
  return id.replaceAll('-', '')
}

/** A payment as its provider knows it. */
export function referenceOf({ number, providerId, amountCents, currency }: Payment): PaymentReference {
  return { number, providerId: providerId ?? undefined, amountCents, currency }
}

/** A call whose outcome is not known is repeated for so long: providers forget a number after 24 hours. */
export const REPEAT_FOR_MS = 23 * HOUR

/** The request of the client makes the first call; after this time the runner repeats it. */
export const REQUEST_MS = 15 * SECOND

const UNCLEAR_PAUSES_MS = [5 * SECOND, 10 * SECOND, 20 * SECOND]
const LONGEST_UNCLEAR_PAUSE_MS = 40 * SECOND
const CLOSE_AGAIN_AFTER_MS = 30 * SECOND
const PAYMENT_LOOKS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE]
/** The longest pause before the next query of a payment. */
export const LONGEST_PAYMENT_PAUSE_MS = 15 * MINUTE
// A payer who was there in the last second has paid then.
const AFTER_EXPIRY_MS = 10 * SECOND

/** How many payments in a row the provider has not opened when its channel fails. */
export const FAILED_IN_A_ROW = 5
/** Older payments say nothing about the channel. */
export const FAILING_WITHIN_MS = DAY
const ENDED_BEFORE = 'order_ended'

/** Whether the provider has opened none of the `latest` payments of a channel, which are sorted newest first. */
export function isChannelFailing(
  latest: readonly Pick<Payment, 'status' | 'failedReason' | 'createdAt' | 'actionType'>[],
  now: number,
): boolean {
  const outcomes = latest
    .map(({ status, failedReason, createdAt, actionType }) => {
      if (actionType !== null || status === 'open' || status === 'paid') return 'opened'
      if (status === 'failed') return failedReason === ENDED_BEFORE ? 'unclear' : 'failed'
      return status === 'creating' && createdAt + MINUTE <= now ? 'failed' : 'unclear'
    })
    .filter((outcome) => outcome !== 'unclear')
    .slice(0, FAILED_IN_A_ROW)
  return outcomes.length === FAILED_IN_A_ROW && outcomes.every((outcome) => outcome === 'failed')
}

/** The pause before a call without a clear answer is repeated. */
function unclearPauseMs(attempts: number): number {
  return UNCLEAR_PAUSES_MS[attempts - 1] ?? LONGEST_UNCLEAR_PAUSE_MS
}

/** Whether the link or code of a payment can no longer be paid. */
export function isActionDead({ actionExpiresAt }: Payment, now: number): boolean {
  return actionExpiresAt === null || actionExpiresAt + AFTER_EXPIRY_MS <= now
}

/**
 * When the runner looks at a payment again; null if never. A closed one is asked for until its code is dead: a provider may
 * have no trade yet for a code that can still be paid.
 */
export function nextLookAt(payment: Payment, now: number, attempts: number): number | null {
  const { status, isClosing, createdAt, closedAt, orderEndsAt } = payment
  if (status === 'creating') return now + unclearPauseMs(attempts)
  if (status === 'open')
    return isClosing || isActionDead(payment, now)
      ? now + CLOSE_AGAIN_AFTER_MS
      : firstLook(payment, createdAt, [orderEndsAt], now)
  if (status === 'closed' && closedAt !== null && !isActionDead(payment, now))
    return firstLook(payment, closedAt, [], now)
  return null
}

function firstLook(
  { actionExpiresAt }: Payment,
  since: number,
  others: readonly (number | null)[],
  now: number,
): number {
  const end = actionExpiresAt === null ? null : actionExpiresAt + AFTER_EXPIRY_MS
  const looks = [...PAYMENT_LOOKS_MS.map((after) => since + after), ...others, end]
  const later = looks.filter((at) => at !== null && at > now) as number[]
  return Math.min(now + LONGEST_PAYMENT_PAUSE_MS, ...later)
}

const REFUND_LOOKS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE]
const REFUND_LOOK_EVERY_MS = HOUR
const REFUND_LOOKS_FOR_MS = 7 * DAY
export const LONGEST_REFUND_PAUSE_MS = REFUND_LOOK_EVERY_MS

/** When the runner asks for a refund again; null when it gives up, and a person must look. */
export function nextRefundLookAt(refund: Refund, now: number, attempts: number): number | null {
  const { status, isSent, createdAt } = refund
  if (status !== 'pending') return null
  if (!isSent && now < createdAt + REPEAT_FOR_MS) return now + unclearPauseMs(attempts)
  if (now >= createdAt + REFUND_LOOKS_FOR_MS) return null
  const looks = REFUND_LOOKS_MS.map((after) => createdAt + after).filter((at) => at > now)
  return Math.min(now + REFUND_LOOK_EVERY_MS, ...looks)
}

/** The status that a provider's answer gives a refund; undefined if it gives none. */
export function refundMove(refund: Refund, { status }: ProviderRefund): RefundStatus | undefined {
  if (status === 'unknown' || status === 'pending') return undefined
  return REFUND_MOVES[refund.status].includes(status) ? status : undefined
}
