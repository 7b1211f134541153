import { newId } from '../../kernel/ids.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { ProviderPayment } from '../../ports/payments.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import type { Tx } from '../../store/store.ts'
import { raiseAttention } from './alerts.ts'
import type { PaymentDeps } from './deps.ts'
import {
  PAYMENT_EVENTS,
  PAYMENT_MOVES,
  PAYMENT_STATUSES,
  nextLookAt,
  type Attention,
  type PaymentStatus,
} from './model.ts'
import type { CallOutcome } from './provider-calls.ts'
import type { Refunds } from './refunds.ts'
import {
  appendChange,
  findOtherPaid,
  findPayment,
  insertPayment,
  movePayment,
  setPaymentDue,
  type PaymentRow,
} from './store.ts'

const LONGEST_REASON = 200
const NUMBER = /^[0-9a-f]{32}$/

/** The states of payments: applies what providers say to the payment and its order, with history, events and alerts. */
export class PaymentStates {
  readonly #deps: PaymentDeps
  readonly #refunds: Refunds
  readonly #changes: Counter

  constructor(deps: PaymentDeps, refunds: Refunds) {
    this.#deps = deps
    this.#refunds = refunds
    this.#changes = deps.metrics.counter({
      name: 'payments_total',
      help: 'Payments that entered a status.',
      labels: { channel: [...deps.channels.keys()], status: PAYMENT_STATUSES },
    })
  }

  /** Inserts a payment with the entry of its history; undefined if there is one of that number, order and channel. */
  async insert(
    tx: Tx,
    payment: Omit<PaymentRow, 'seq'>,
    change: 'created' | 'paid',
  ): Promise<PaymentRow | undefined> {
    if (!(await insertPayment(tx, payment))) return undefined
    const inserted = await findPayment(tx, payment.id)
    if (inserted) await this.#record(tx, inserted, change, inserted.createdBy, null)
    return inserted
  }

  /** Applies the answer of the provider to the current state of the payment. */
  async applyOutcome(tx: Tx, id: string, outcome: CallOutcome, actor: string): Promise<void> {
    if (outcome.type === 'unclear') return
    const payment = await findPayment(tx, id)
    if (!payment) return
    if (outcome.type === 'state') {
      const { state, isClose } = outcome
      const isClosed = isClose && state.status === 'unknown'
      await this.applyState(tx, payment, isClosed ? { ...state, status: 'closed' } : state, actor)
    } else if (payment.status === 'creating') {
      await this.#move(tx, payment, createdState(outcome), actor)
    }
  }

  /** Sets when the payment is due next, after an attempt. */
  async plan(tx: Tx, id: string, attempts = 1): Promise<void> {
    const payment = await findPayment(tx, id)
    const dueAt = payment ? nextLookAt(payment, this.#deps.clock.now(), attempts) : null
    await setPaymentDue(tx, id, dueAt)
  }

  /** Records money with our mark for a payment that is not here, such as after a restore. */
  async takeUnknown(
    tx: Tx,
    channel: string,
    number: string,
    state: ProviderPayment,
    actor: string,
  ): Promise<'applied' | 'unchanged' | 'foreign'> {
    const { clock, currency } = this.#deps
    if (state.status !== 'paid' || state.amountCents === undefined || !NUMBER.test(number)) return 'foreign'
    const now = clock.now()
    const payment: Omit<PaymentRow, 'seq'> = {
      ...blankPayment(now),
      dueAt: null,
      id: newId(),
      channel,
      status: 'paid',
      amountCents: state.amountCents,
      paidCents: state.amountCents,
      currency: state.currency ?? currency,
      number,
      providerId: state.providerId ?? null,
      attention: 'unknown_order',
      createdBy: actor,
      paidAt: state.paidAt ?? now,
    }
    const inserted = await this.insert(tx, payment, 'paid')
    if (!inserted) return 'unchanged'
    await raiseAttention(tx, this.#deps, inserted, 'unknown_order', actor)
    return 'applied'
  }

  /** Applies the provider's state to a payment; `false` if it changes nothing. */
  async applyState(tx: Tx, found: PaymentRow, state: ProviderPayment, actor: string): Promise<boolean> {
    const { status } = state
    if (status === 'open' || status === 'unknown') return false
    // If another change wins the race, this one is checked again against the new status.
    for (let payment: PaymentRow | undefined = found; ; payment = await findPayment(tx, found.id)) {
      if (!payment || !PAYMENT_MOVES[payment.status].includes(status)) return false
      const providerId = state.providerId ?? payment.providerId
      const isMoved =
        status === 'paid'
          ? await this.#pay(tx, { ...payment, providerId }, state, actor)
          : await this.#move(tx, { ...payment, providerId }, this.#endOf(status, state.reason), actor)
      if (isMoved) return true
    }
  }

  #endOf(status: 'closed' | 'failed', reason = 'failed') {
    return status === 'closed'
      ? { status, closedAt: this.#deps.clock.now() }
      : { status, failedReason: reason.slice(0, LONGEST_REASON) }
  }

  /** Applies a payment by the payer: moves the payment, and its order too unless something speaks against it. */
  async #pay(tx: Tx, payment: PaymentRow, state: ProviderPayment, actor: string): Promise<boolean> {
    const { clock, refundLate } = this.#deps
    const paid = {
      status: 'paid',
      paidCents: state.amountCents ?? null,
      paidAt: state.paidAt ?? clock.now(),
      version: payment.version + 1,
    } as const
    if (!(await this.#compareAndSet(tx, payment.status, { ...payment, ...paid }))) return false
    const attention = await this.#payOrder(tx, payment, state, actor)
    const next = { ...payment, ...paid, attention }
    if (attention) await this.#compareAndSet(tx, 'paid', next)
    await this.#record(tx, next, 'paid', actor, null)
    if (!attention) return true
    await raiseAttention(tx, this.#deps, next, attention, actor)
    if (refundLate && (attention === 'late' || attention === 'duplicate'))
      await this.#refunds.create(tx, next.id, { reason: attention }, 'worker')
    return true
  }

  /** Moves the order to paid; returns why a person must look at the payment, null if nobody must. */
  async #payOrder(
    tx: Tx,
    payment: PaymentRow,
    state: ProviderPayment,
    actor: string,
  ): Promise<Attention | null> {
    const { orders } = this.#deps
    const { orderId, amountCents, currency, id } = payment
    if (orderId === null) return 'unknown_order'
    if (state.amountCents !== amountCents || (state.currency ?? currency) !== currency)
      return 'amount_mismatch'
    if (await orders.pay(tx, orderId, actor)) return null
    const order = await orders.find(tx, orderId)
    if (!order) return 'unknown_order'
    const isPaidTwice = order.status !== 'expired' && (await findOtherPaid(tx, orderId, id)) !== undefined
    return isPaidTwice ? 'duplicate' : 'late'
  }

  /** Moves a payment with compare-and-set, history and event; `false` if the payment has left its status meanwhile. */
  async #move(
    tx: Tx,
    payment: PaymentRow,
    change: Partial<PaymentRow> & { readonly status: PaymentStatus },
    actor: string,
  ): Promise<boolean> {
    const next = { ...payment, ...change, version: payment.version + 1 }
    if (!(await this.#compareAndSet(tx, payment.status, next))) return false
    await this.#record(tx, next, next.status, actor, next.status === 'failed' ? next.failedReason : null)
    return true
  }

  /** Writes what has changed, and when the runner looks at it again; `false` if it has left the status `from`. */
  #compareAndSet(tx: Tx, from: PaymentStatus, payment: PaymentRow): Promise<boolean> {
    const dueAt = nextLookAt(payment, this.#deps.clock.now(), 1)
    return movePayment(tx, from, { ...payment, dueAt })
  }

  async #record(
    tx: Tx,
    payment: PaymentRow,
    change: string,
    actor: string,
    note: string | null,
  ): Promise<void> {
    const { clock, events, logger } = this.#deps
    const { id, channel, status } = payment
    await appendChange(tx, { paymentId: id, at: clock.now(), change, actor, note })
    const type = (PAYMENT_EVENTS as Readonly<Record<string, string>>)[change]
    if (type !== undefined) await events.append(tx, { type, subject: id, data: payment })
    tx.afterCommit(() => {
      this.#changes.increment({ channel, status })
      if (change !== 'created') logger.debug({ payment_id: id, channel, status, actor }, 'payment changed')
    })
  }
}

/** What a call has changed that was to create a payment at its provider. */
function createdState(outcome: Extract<CallOutcome, { type: 'opened' | 'refused' }>) {
  if (outcome.type === 'refused')
    return { status: 'failed', failedReason: outcome.reason.slice(0, LONGEST_REASON) } as const
  const { providerId, action } = outcome.opened
  return {
    status: 'open',
    providerId: providerId ?? null,
    actionType: action.type,
    actionUrl: action.url,
    actionExpiresAt: action.expiresAt,
  } as const
}

/** The columns of a new payment of which nothing is known yet. */
export function blankPayment(now: number) {
  return {
    ...queuedWork(now),
    orderId: null,
    providerId: null,
    paidCents: null,
    refundedCents: 0,
    reservedCents: 0,
    attention: null,
    hasFailedRefund: false,
    createdAt: now,
    paidAt: null,
    closedAt: null,
    failedReason: null,
    parameters: '',
    actionType: null,
    actionUrl: null,
    actionExpiresAt: null,
    orderEndsAt: null,
    isClosing: false,
    version: 1,
  }
}
