import { AppError, errorMessage, invalidTransition, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { ChannelError, type PaymentChannel, type ProviderRefund } from '../../ports/payments.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import type { Tx } from '../../store/store.ts'
import { paymentAlarm, raiseAttention, recoverPayment } from './alerts.ts'
import type { PaymentDeps } from './deps.ts'
import {
  PAYMENT_EVENTS,
  REFUND_STATUSES,
  REPEAT_FOR_MS,
  isWhollyRefunded,
  nextRefundLookAt,
  numberOf,
  paidCentsOf,
  referenceOf,
  refundMove,
  unresolvedAttention,
  type RefundStatus,
} from './model.ts'
import {
  appendChange,
  findFailedRefundSince,
  findPayment,
  findRefund,
  insertRefund,
  listPaymentChanges,
  listRefunds,
  lockPayment,
  markRefundSent,
  moveRefund,
  reserveCents,
  setRefundDueAt,
  updateRefunded,
  type PaymentRow,
  type RefundRow,
} from './store.ts'

const LONGEST_REASON = 200

/** The refunds of payments, each with a number of its own at the provider. */
export class Refunds {
  readonly #deps: PaymentDeps
  readonly #wake: () => void
  readonly #changes: Counter

  /** `wake` wakes the runner; called after a commit. */
  constructor(deps: PaymentDeps, wake: () => void) {
    this.#deps = deps
    this.#wake = wake
    this.#changes = deps.metrics.counter({
      name: 'payment_refunds_total',
      help: 'Refunds that entered a status.',
      labels: { channel: [...deps.channels.keys()], status: REFUND_STATUSES },
    })
  }

  /**
   * Requests a refund, by default of all that is left; the runner makes it after the commit. Rejects with
   * `payment_not_found`, `invalid_transition` and `refund_too_large`.
   */
  async create(
    tx: Tx,
    paymentId: string,
    { amountCents, reason }: { readonly amountCents?: number | undefined; readonly reason: string },
    actor: string,
  ): Promise<RefundRow> {
    const payment = requireFound(await lockPayment(tx, paymentId), 'payment', paymentId)
    const cents = refundableCents(payment, amountCents)
    const now = this.#deps.clock.now()
    const id = newId()
    const refund: RefundRow = {
      ...queuedWork(now),
      seq: 0,
      id,
      paymentId,
      channel: payment.channel,
      number: numberOf(id),
      status: 'pending',
      amountCents: cents,
      reason,
      providerId: null,
      failedReason: null,
      createdAt: now,
      createdBy: actor,
      finishedAt: null,
      isSent: false,
    }
    await reserveCents(tx, paymentId, cents)
    await insertRefund(tx, refund)
    await appendChange(tx, { paymentId, at: now, change: 'refund_requested', actor, note: `${cents} cents` })
    tx.afterCommit(() => {
      this.#changes.increment({ channel: payment.channel, status: 'pending' })
      this.#wake()
    })
    return refund
  }

  /** Newest first. Rejects with `payment_not_found`. */
  async list(paymentId: string, page: PageRequest) {
    const { read } = this.#deps.store
    requireFound(await findPayment(read, paymentId), 'payment', paymentId)
    return listRefunds(read, { paymentId }, page)
  }

  /** The next call for a refund, outside of any transaction; undefined if it brought no answer. */
  async askProvider(refund: RefundRow): Promise<ProviderRefund | undefined> {
    const { channels, logger, store } = this.#deps
    const channel = channels.get(refund.channel)
    const payment = await findPayment(store.read, refund.paymentId)
    if (!channel || !payment) return undefined
    try {
      return await this.#call(channel, refund, payment)
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error
      const { outcome, code } = error
      logger.warn(
        { refund_id: refund.id, channel: channel.name, code, error },
        'a provider has not made a refund',
      )
      if (outcome === 'unclear' || refund.isSent) return undefined
      return { status: 'failed', providerId: undefined, reason: code ?? errorMessage(error) }
    }
  }

  async #call(channel: PaymentChannel, refund: RefundRow, row: PaymentRow): Promise<ProviderRefund> {
    const { number, amountCents, reason, providerId, isSent, createdAt, queuedAt } = refund
    // If the amount differs from the order, the provider knows the amount that was paid.
    const payment = referenceOf({ ...row, amountCents: paidCentsOf(row) })
    const now = this.#deps.clock.now()
    const maySend = now < queuedAt + REPEAT_FOR_MS
    if (isSent || !maySend) {
      const reference = { number, providerId: providerId ?? undefined, payment, amountCents }
      const state = await channel.queryRefund(reference)
      if (state.status !== 'unknown') return state
      // No money was refunded, and none will be under this number.
      if (now >= createdAt + REPEAT_FOR_MS) return { ...state, status: 'failed', reason: 'unclear' }
      if (!maySend) return state
    }
    return channel.refund({ number, payment, amountCents, reason })
  }

  /** Applies the provider's answer to a refund; `false` if it changes nothing. */
  async apply(
    tx: Tx,
    channel: string,
    number: string,
    state: ProviderRefund,
    actor: string,
  ): Promise<boolean> {
    // If another change wins the race, this one is checked again against the new status.
    for (;;) {
      const refund = await findRefund(tx, number)
      if (!refund || refund.channel !== channel) return false
      const status = refundMove(refund, state)
      if (status === undefined) {
        if (state.status === 'pending' && !refund.isSent)
          await markRefundSent(tx, refund.id, state.providerId ?? null)
        return false
      }
      if (await this.#move(tx, refund, status, state, actor)) return true
    }
  }

  /** When the refund is due next, after an attempt. Raises an alert when the runner gives it up. */
  async dueAfter(tx: Tx, refund: RefundRow, attempts: number): Promise<number | null> {
    const current = await findRefund(tx, refund.number)
    if (!current) return null
    const dueAt = nextRefundLookAt(current, this.#deps.clock.now(), attempts)
    if (dueAt === null && current.status === 'pending') await this.#giveUp(tx, current)
    return dueAt
  }

  async #giveUp(tx: Tx, refund: RefundRow): Promise<void> {
    const payment = await lockPayment(tx, refund.paymentId)
    if (payment) await updateRefunded(tx, { ...payment, hasFailedRefund: true, version: payment.version + 1 })
    await appendChange(tx, {
      paymentId: refund.paymentId,
      at: this.#deps.clock.now(),
      change: 'refund_unclear',
      actor: 'worker',
      note: `${refund.amountCents} cents`,
    })
    await this.#raise(tx, refund, 'has no outcome')
  }

  async #move(
    tx: Tx,
    refund: RefundRow,
    status: RefundStatus,
    state: ProviderRefund,
    actor: string,
  ): Promise<boolean> {
    const { clock, events } = this.#deps
    const now = clock.now()
    const failedReason = status === 'failed' ? (state.reason ?? 'failed').slice(0, LONGEST_REASON) : null
    const next = {
      ...refund,
      status,
      failedReason,
      providerId: state.providerId ?? refund.providerId,
      finishedAt: now,
      isSent: true,
    }
    // The payment is locked first, as in a request for a refund.
    const payment = await lockPayment(tx, refund.paymentId)
    if (!payment || !(await moveRefund(tx, refund.status, next))) return false
    await setRefundDueAt(tx, refund.id, null)
    const updated = await paymentAfterRefund(tx, payment, refund, status)
    await updateRefunded(tx, updated)
    const change = status === 'succeeded' ? 'refunded' : 'refund_failed'
    const note = failedReason ?? `${refund.amountCents} cents`
    await appendChange(tx, { paymentId: payment.id, at: now, change, actor, note })
    if (status === 'failed') {
      await this.#raise(tx, next, refund.status === 'succeeded' ? 'was taken back' : 'has failed')
      if (refund.status === 'succeeded') await this.#restoreAttention(tx, updated, actor)
    } else {
      await events.append(tx, { type: PAYMENT_EVENTS.refunded, subject: payment.id, data: updated })
      if (!updated.hasFailedRefund)
        await recoverPayment(tx, this.#deps, 'refund_failed', payment, 'A refund has succeeded.')
      if (payment.attention && !updated.attention)
        await recoverPayment(tx, this.#deps, payment.attention, payment, 'The payment is refunded.')
    }
    tx.afterCommit(() => this.#changes.increment({ channel: refund.channel, status }))
    return true
  }

  /** The refund that had ended the attention was taken back: the payment needs a person again. */
  async #restoreAttention(tx: Tx, payment: PaymentRow, actor: string): Promise<void> {
    if (payment.attention !== null) return
    const attention = unresolvedAttention(await listPaymentChanges(tx, payment.id))
    if (attention === null) return
    const restored = { ...payment, attention }
    await updateRefunded(tx, restored)
    await raiseAttention(tx, this.#deps, restored, attention, actor)
  }

  async #raise(
    tx: Tx,
    { id, number, paymentId, channel, failedReason }: RefundRow,
    what: string,
  ): Promise<void> {
    const reason = failedReason === null ? '' : ` (${failedReason})`
    await this.#deps.alerts.raise(tx, {
      ...paymentAlarm('payment.refund_failed:*', paymentId),
      title: `A refund ${what}`,
      body: `The refund ${id} (${number} at ${channel}) of the payment ${paymentId} ${what}${reason}. Look at it at the provider, then refund again or resolve the payment.`,
      severity: 'ERROR',
    })
  }
}

/** The cents of a new refund. Throws `invalid_transition` and `refund_too_large`. */
function refundableCents(payment: PaymentRow, amountCents: number | undefined): number {
  const { status, id } = payment
  if (status !== 'paid') {
    const message = `A payment that is ${status} cannot be refunded; only a paid one can.`
    throw invalidTransition(message, status, [])
  }
  const left = paidCentsOf(payment) - payment.reservedCents
  const cents = amountCents ?? left
  if (cents > 0 && cents <= left) return cents
  const message = `Of the payment ${id} ${left} cents are left to refund, fewer than ${Math.max(1, cents)}.`
  throw new AppError('conflict', 'refund_too_large', message, { values: { left } })
}

/** The payment after a refund has entered a status. */
async function paymentAfterRefund(
  tx: Tx,
  payment: PaymentRow,
  refund: RefundRow,
  status: RefundStatus,
): Promise<PaymentRow> {
  const cents = refund.amountCents
  const version = payment.version + 1
  if (status === 'succeeded') {
    const refunded = { ...payment, refundedCents: payment.refundedCents + cents, version }
    const attention = isWhollyRefunded(refunded) ? null : payment.attention
    // A refund that was requested before another one has failed does not make up for it.
    const isMadeUpFor =
      isWhollyRefunded(refunded) || !(await findFailedRefundSince(tx, payment.id, refund.createdAt))
    return { ...refunded, attention, hasFailedRefund: payment.hasFailedRefund && !isMadeUpFor }
  }
  const reservedCents = payment.reservedCents - cents
  const refundedCents = payment.refundedCents - (refund.status === 'succeeded' ? cents : 0)
  return { ...payment, reservedCents, refundedCents, hasFailedRefund: true, version }
}
