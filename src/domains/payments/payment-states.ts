import { notFound } from '../../kernel/errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import type { PaymentChannel, ProviderPayment } from '../../ports/payments.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import type { Tx } from '../../store/store.ts'
import { raiseAttention } from './attention.ts'
import {
  PAYMENT_EVENTS,
  type Attention,
  attentionOf,
  canMovePayment,
  nextLookAt,
  type OrderOutcome,
  type Payment,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from './model.ts'
import type { CallOutcome } from './provider-calls.ts'
import type { Refunds } from './refunds.ts'
import {
  appendChange,
  findPayment,
  insertPayment,
  isPaidByAnother,
  movePayment,
  type PaymentRow,
  setPaymentDue,
} from './store.ts'

/** An order as the payments see it. */
export interface PayableOrder {
  readonly orderId: string
  readonly amountCents: number
  readonly status: string
  readonly expiresAt: number
}

/** What the payments need of the orders. */
export interface PayableOrders {
  /** Rejects with `order_not_found`. */
  get(orderId: string): Promise<PayableOrder>
  find(tx: Tx, orderId: string): Promise<PayableOrder | undefined>
  /** Moves a pending order to paid; `false` if it is not pending. */
  pay(tx: Tx, orderId: string, actor: string): Promise<boolean>
}

interface PaymentStatesOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<Payment>
  readonly alerts: RecoverableAlerts
  readonly orders: Pick<PayableOrders, 'find' | 'pay'>
  readonly channels: ReadonlyMap<string, PaymentChannel>
  readonly currency: string
  readonly refundLate: boolean
  readonly refunds: Refunds
}

/** Money that a provider has taken under a number that is not here. */
export interface UnknownMoney {
  readonly channel: string
  readonly number: string
  readonly state: ProviderPayment
}

const WORKER = 'worker'
const LONGEST_REASON = 200
const NUMBER = /^[0-9a-f]{32}$/

/** The states of payments: applies what providers say to the payment and its order, with history, events and alerts. */
export class PaymentStates {
  readonly #options: PaymentStatesOptions
  readonly #changes: Counter

  constructor(options: PaymentStatesOptions) {
    this.#options = options
    this.#changes = options.metrics.counter({
      name: 'payments_total',
      help: 'Payments that entered a status.',
      labels: ['channel', 'status'],
    })
    for (const channel of options.channels.keys())
      for (const status of PAYMENT_STATUSES) this.#changes.increment({ channel, status }, 0)
  }

  /** Inserts a payment with the entry of its history; undefined if there is one of that number, order and channel. */
  async insert(
    tx: Tx,
    payment: Parameters<typeof insertPayment>[1],
    change: 'created' | 'paid',
  ): Promise<PaymentRow | undefined> {
    if (!(await insertPayment(tx, payment))) return undefined
    const inserted = requirePayment(await findPayment(tx, payment.id), payment.id)
    await this.#record(tx, inserted, change, inserted.createdBy, null)
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
    const dueAt = payment ? nextLookAt(payment, this.#options.clock.now(), attempts) : null
    await setPaymentDue(tx, id, dueAt)
  }

  /** Records money with our mark for a payment that is not here, such as after a restore. */
  async takeUnknown(
    tx: Tx,
    { channel, number, state }: UnknownMoney,
    actor: string,
  ): Promise<'applied' | 'unchanged' | 'foreign'> {
    const { clock, currency } = this.#options
    if (state.status !== 'paid' || state.amountCents === undefined || !NUMBER.test(number)) return 'foreign'
    const now = clock.now()
    const payment = {
      ...blankPayment(now),
      id: newId(),
      channel,
      status: 'paid' as PaymentStatus,
      amountCents: state.amountCents,
      paidCents: state.amountCents,
      currency: state.currency ?? currency,
      number,
      providerId: state.providerId ?? null,
      attention: 'unknown_order' as Attention,
      createdBy: actor,
      paidAt: state.paidAt ?? now,
    }
    const inserted = await this.insert(tx, payment, 'paid')
    if (!inserted) return 'unchanged'
    await raiseAttention(tx, this.#options, inserted, 'unknown_order', actor)
    return 'applied'
  }

  /** Applies the provider's state to a payment; `false` if it changes nothing. */
  async applyState(tx: Tx, found: PaymentRow, state: ProviderPayment, actor: string): Promise<boolean> {
    const { status } = state
    if (status === 'open' || status === 'unknown') return false
    // If another change wins the race, this one is checked again against the new status.
    for (let payment: PaymentRow | undefined = found; ; payment = await findPayment(tx, found.id)) {
      if (!payment || !canMovePayment(payment.status, status)) return false
      const isMoved =
        status === 'paid'
          ? await this.#pay(tx, payment, state, actor)
          : await this.#end(tx, payment, status, state, actor)
      if (isMoved) return true
    }
  }

  #end(tx: Tx, payment: PaymentRow, status: 'closed' | 'failed', state: ProviderPayment, actor: string) {
    const at = this.#options.clock.now()
    const end =
      status === 'closed'
        ? { closedAt: at }
        : { failedReason: (state.reason ?? 'failed').slice(0, LONGEST_REASON) }
    return this.#move(
      tx,
      payment,
      { status, ...end, providerId: state.providerId ?? payment.providerId },
      actor,
    )
  }

  /** Applies a payment by the payer: moves the payment, and its order too unless something speaks against it. */
  async #pay(tx: Tx, payment: PaymentRow, state: ProviderPayment, actor: string): Promise<boolean> {
    const { clock, refundLate } = this.#options
    const paid = {
      status: 'paid',
      paidCents: state.amountCents ?? null,
      paidAt: state.paidAt ?? clock.now(),
      providerId: state.providerId ?? payment.providerId,
      version: payment.version + 1,
    } as const
    if (!(await this.#compareAndSet(tx, payment.status, { ...payment, ...paid }))) return false
    const attention = await this.#payOrder(tx, payment, state, actor)
    const next = { ...payment, ...paid, attention }
    if (attention) await this.#compareAndSet(tx, 'paid', next)
    await this.#record(tx, next, 'paid', actor, null)
    if (!attention) return true
    await raiseAttention(tx, this.#options, next, attention, actor)
    if (refundLate && (attention === 'late' || attention === 'duplicate'))
      await this.#options.refunds.create(tx, next.id, { reason: attention }, WORKER)
    return true
  }

  async #payOrder(
    tx: Tx,
    payment: PaymentRow,
    state: ProviderPayment,
    actor: string,
  ): Promise<Attention | null> {
    const { orders } = this.#options
    const { orderId, amountCents, currency, id } = payment
    if (orderId === null) return 'unknown_order'
    if (state.amountCents !== amountCents || (state.currency ?? currency) !== currency)
      return 'amount_mismatch'
    const isPaid = await orders.pay(tx, orderId, actor)
    const order = isPaid ? undefined : await orders.find(tx, orderId)
    const outcome: OrderOutcome = isPaid
      ? 'paid'
      : !order
        ? 'missing'
        : order.status === 'expired'
          ? 'ended'
          : 'paid_otherwise'
    return attentionOf(outcome, outcome === 'paid_otherwise' && (await isPaidByAnother(tx, orderId, id)))
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
    const dueAt = nextLookAt(payment, this.#options.clock.now(), 1)
    return movePayment(tx, from, { ...payment, dueAt })
  }

  async #record(
    tx: Tx,
    payment: PaymentRow,
    change: string,
    actor: string,
    note: string | null,
  ): Promise<void> {
    const { clock, events, logger } = this.#options
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

/** The columns of a payment of which nothing is known yet. */
export function blankPayment(now: number) {
  return {
    ...queuedWork(now),
    dueAt: null as number | null,
    orderId: null as string | null,
    providerId: null as string | null,
    paidCents: null as number | null,
    refundedCents: 0,
    reservedCents: 0,
    attention: null as Attention | null,
    hasFailedRefund: false,
    createdAt: now,
    paidAt: null as number | null,
    closedAt: null,
    failedReason: null,
    parameters: '',
    actionType: null,
    actionUrl: null,
    actionExpiresAt: null,
    orderEndsAt: null as number | null,
    isClosing: false,
    version: 1,
  }
}

export function requirePayment(payment: PaymentRow | undefined, id: string): PaymentRow {
  if (!payment) throw notFound('payment', id)
  return payment
}
