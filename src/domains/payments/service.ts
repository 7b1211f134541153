import type { WaitingClock } from '../../kernel/clock.ts'
import { AppError, errorMessage, invalidTransition, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { SECOND } from '../../kernel/time.ts'
import type { RecoverableAlerts } from '../../ports/alerts.ts'
import type { EventSink } from '../../ports/events.ts'
import {
  ChannelError,
  type OrderPayments,
  type PaymentChannel,
  type ProviderPayment,
} from '../../ports/payments.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import type { Queries, Store, Tx } from '../../store/store.ts'
import { raiseAttention } from './attention.ts'
import { Callbacks, type CallbackOutcome, noChannel } from './callbacks.ts'
import { ChannelHealth } from './channel-health.ts'
import { PAYMENT_EVENTS } from './events.ts'
import {
  type Attention,
  attentionOf,
  canMovePayment,
  isActionDead,
  isUnfinished,
  needsPerson,
  nextLookAt,
  numberOf,
  type OrderOutcome,
  type Payment,
  PAYMENT_STATUSES,
  type PaymentChange,
  type PaymentStatus,
  referenceOf,
  REPEAT_FOR_MS,
  REQUEST_MS,
} from './model.ts'
import type { Reconciliation } from './reconciliation/model.ts'
import { Refunds } from './refunds.ts'
import {
  appendChange,
  countAttention,
  findPayment,
  findUnfinished,
  insertPayment,
  isPaidByAnother,
  type ListedPayment,
  listPaymentChanges,
  listPayments,
  listOfOrders,
  lockPayment,
  markClosing,
  markOrderClosing,
  markResolved,
  movePayment,
  type PaymentFilter,
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

/** What the domain of payments needs of the rest of the platform. */
export interface PaymentDeps {
  readonly store: Store
  readonly clock: WaitingClock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly events: EventSink<Payment | Reconciliation>
  readonly alerts: RecoverableAlerts
  readonly orders: PayableOrders
  /** The configured channels by name; none: there are no payments. */
  readonly channels: ReadonlyMap<string, PaymentChannel>
  /** ISO 4217. */
  readonly currency: string
  /** Whether `late` and `duplicate` payments are refunded without a person. */
  readonly refundLate: boolean
}

interface ServiceOptions extends PaymentDeps {
  /** Look for due payments and refunds; called after a commit. */
  readonly wakePayments: () => void
  readonly wakeRefunds: () => void
}

/** What a call to the provider has brought. */
export type CallOutcome =
  | { readonly type: 'opened'; readonly opened: Awaited<ReturnType<PaymentChannel['create']>> }
  | { readonly type: 'state'; readonly state: ProviderPayment; readonly isClose: boolean }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'unclear' }

const WORKER = 'worker'

const ASK_FOR_MS = 5 * SECOND
const LONGEST_REASON = 200
const NUMBER = /^[0-9a-f]{32}$/

/** The payments of orders through providers: their creation, callbacks, closing and state. */
export class Payments implements OrderPayments {
  readonly #options: ServiceOptions
  readonly refunds: Refunds
  readonly callbacks: Callbacks
  readonly health: ChannelHealth
  readonly #changes: Counter
  /** The calls of this process that create a payment, by its id. */
  readonly #creating = new Map<string, Promise<void>>()

  constructor(options: ServiceOptions) {
    this.#options = options
    this.refunds = new Refunds({ ...options, wake: options.wakeRefunds })
    this.health = new ChannelHealth(options)
    this.callbacks = new Callbacks({
      ...options,
      refunds: this.refunds,
      applyState: (...change) => this.#applyState(...change),
      takeUnknown: (...change) => this.#takeUnknown(...change),
    })
    const { metrics, channels } = options
    this.#changes = metrics.counter({
      name: 'payments_total',
      help: 'Payments that entered a status.',
      labels: ['channel', 'status'],
    })
    for (const channel of channels.keys()) {
      for (const status of PAYMENT_STATUSES) this.#changes.increment({ channel, status }, 0)
    }
  }

  /**
   * Records a payment of a pending order, which {@link complete} creates at the provider after the commit; or returns the
   * unfinished one of that order and channel. Rejects with `channel_not_found`, `order_not_found`, `invalid_transition` and
   * `amount_not_payable`.
   */
  async create(
    tx: Tx,
    wanted: { readonly orderId: string; readonly channel: string; readonly returnUrl?: string | undefined },
    actor: string,
  ): Promise<{ payment: PaymentRow; outcome: 'created' | 'existing' }> {
    const channel = this.channel(wanted.channel)
    const order = await this.#requirePayable(tx, wanted.orderId, channel)
    const existing = await findUnfinished(tx, order.orderId, channel.name)
    if (existing) return { payment: existing, outcome: 'existing' }
    const payment = this.#newPayment(channel, order, wanted.returnUrl, actor)
    if (!(await insertPayment(tx, payment))) {
      const other = await findUnfinished(tx, order.orderId, channel.name)
      if (other) return { payment: other, outcome: 'existing' }
      throw new Error(`The payment ${payment.id} cannot be inserted.`)
    }
    const inserted = requirePayment(await findPayment(tx, payment.id), payment.id)
    await this.#record(tx, inserted, 'created', actor, null)
    tx.afterCommit(() => this.#changes.increment({ channel: channel.name, status: 'creating' }))
    return { payment: inserted, outcome: 'created' }
  }

  async #requirePayable(tx: Tx, orderId: string, channel: PaymentChannel): Promise<PayableOrder> {
    const order = await this.#options.orders.find(tx, orderId)
    if (!order) throw notFound('order', orderId)
    if (order.status !== 'pending')
      throw invalidTransition(
        `An order that is ${order.status} cannot be paid; only a pending one can.`,
        order.status,
        [],
      )
    const reason =
      order.amountCents === 0 ? 'nothing is to be paid' : channel.refusedAmount(order.amountCents)
    if (reason === undefined) return order
    const message = `The channel ${channel.name} cannot take ${order.amountCents} cents: ${reason}.`
    throw new AppError('invalid', 'amount_not_payable', message)
  }

  #newPayment(channel: PaymentChannel, order: PayableOrder, returnUrl: string | undefined, actor: string) {
    const { clock, currency } = this.#options
    const now = clock.now()
    const id = newId()
    const number = numberOf(id)
    const { orderId, amountCents, expiresAt } = order
    return {
      ...blankPayment(now),
      id,
      orderId,
      channel: channel.name,
      status: 'creating' as PaymentStatus,
      amountCents,
      currency,
      number,
      createdBy: actor,
      orderEndsAt: expiresAt,
      parameters: channel.parametersOf({ number, orderId, amountCents, currency, returnUrl, expiresAt, now }),
      // The request makes the first call.
      dueAt: now + REQUEST_MS,
    }
  }

  /** Creates the payment at the provider if its creation is unclear; returns the resulting state. */
  async complete(id: string): Promise<PaymentRow> {
    const payment = await this.get(id)
    if (payment.status !== 'creating' || payment.isClosing) return payment
    // Requests for one payment share the call.
    const call = this.#creating.getOrInsertComputed(id, () =>
      this.#createAtProvider(payment).finally(() => this.#creating.delete(id)),
    )
    await call
    return this.get(id)
  }

  async #createAtProvider(payment: PaymentRow): Promise<void> {
    const step = await this.askProvider(payment)
    await this.#options.store.write(async (tx) => {
      await this.applyStep(tx, payment.id, step, payment.createdBy)
      await this.#plan(tx, payment.id, 1)
    })
  }

  /** The next call for a payment, outside of any transaction; never rejects for what the provider does. */
  async askProvider(payment: PaymentRow): Promise<CallOutcome> {
    const { channels, clock, logger } = this.#options
    const channel = channels.get(payment.channel)
    if (!channel) return { type: 'unclear' }
    const now = clock.now()
    if (payment.status === 'creating' && now >= payment.createdAt + REPEAT_FOR_MS)
      return { type: 'refused', reason: 'unclear' }
    try {
      return await call(channel, payment, now)
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error
      const { outcome, code } = error
      logger.warn(
        { payment_id: payment.id, channel: channel.name, code, error },
        'a provider has not done what it was asked',
      )
      if (outcome === 'unclear' || payment.status !== 'creating') return { type: 'unclear' }
      return { type: 'refused', reason: payment.isClosing ? 'order_ended' : (code ?? errorMessage(error)) }
    }
  }

  /** Applies the answer of the provider to the current state of the payment. */
  async applyStep(tx: Tx, id: string, step: CallOutcome, actor: string): Promise<void> {
    if (step.type === 'unclear') return
    const payment = await findPayment(tx, id)
    if (!payment) return
    if (step.type === 'state') {
      const { state, isClose } = step
      const closes = isClose && state.status === 'unknown'
      return void (await this.#applyState(
        tx,
        payment,
        closes ? { ...state, status: 'closed' } : state,
        actor,
      ))
    }
    if (payment.status !== 'creating') return
    if (step.type === 'refused')
      return void (await this.#move(
        tx,
        payment,
        { status: 'failed', failedReason: step.reason.slice(0, LONGEST_REASON) },
        actor,
      ))
    const { providerId, action } = step.opened
    const opened = {
      status: 'open',
      providerId: providerId ?? null,
      actionType: action.type,
      actionUrl: action.url,
      actionExpiresAt: action.expiresAt,
    } as const
    await this.#move(tx, payment, opened, actor)
  }

  /** When the payment is due next, after an attempt. */
  async dueAfter(tx: Tx, id: string, attempts: number): Promise<number | null> {
    const payment = await findPayment(tx, id)
    return payment ? nextLookAt(payment, this.#options.clock.now(), attempts) : null
  }

  async #plan(tx: Tx, id: string, attempts = 1): Promise<void> {
    await setPaymentDue(tx, id, await this.dueAfter(tx, id, attempts))
  }

  /** Asks for the closing of an open payment. Rejects with `payment_not_found` and `invalid_transition`. */
  async requestClose(tx: Tx, id: string, actor: string): Promise<PaymentRow> {
    const payment = requirePayment(await findPayment(tx, id), id)
    if (payment.status === 'closed') return payment
    if (payment.status !== 'open')
      throw invalidTransition(
        `A payment that is ${payment.status} cannot be closed; only an open one can.`,
        payment.status,
        [],
      )
    const at = this.#options.clock.now()
    await markClosing(tx, id)
    await setPaymentDue(tx, id, at + REQUEST_MS)
    await appendChange(tx, { paymentId: id, at, change: 'close_requested', actor, note: null })
    return payment
  }

  /** Closes a payment at the provider if that was requested; returns the resulting state. */
  async close(id: string): Promise<PaymentRow> {
    const payment = await this.get(id)
    if (payment.status !== 'open') return payment
    const step = await this.askProvider(payment)
    await this.#options.store.write(async (tx) => {
      await this.applyStep(tx, id, step, `payment:${payment.channel}`)
      await this.#plan(tx, id)
    })
    return this.get(id)
  }

  /** Rejects with `payment_not_found`. */
  async get(id: string, queries: Queries = this.#options.store.read): Promise<PaymentRow> {
    return requirePayment(await findPayment(queries, id), id)
  }

  list(filter: PaymentFilter, page: PageRequest): Promise<Page<ListedPayment>> {
    return listPayments(this.#options.store.read, filter, page)
  }

  /** The payments of an order, newest first. Rejects with `order_not_found`. */
  async listOfOrder(orderId: string, page: PageRequest): Promise<Page<ListedPayment>> {
    await this.#options.orders.get(orderId)
    return this.list({ orderId }, page)
  }

  /** Everything that has happened to a payment, oldest first. Rejects with `payment_not_found`. */
  async history(id: string): Promise<PaymentChange[]> {
    await this.get(id)
    return listPaymentChanges(this.#options.store.read, id)
  }

  /** Ends what needs a person. Rejects with `payment_not_found` and `nothing_to_resolve`. */
  async resolve(tx: Tx, id: string, note: string, actor: string): Promise<PaymentRow> {
    const payment = requirePayment(await lockPayment(tx, id), id)
    const { attention } = payment
    if (!needsPerson(payment))
      throw new AppError(
        'conflict',
        'nothing_to_resolve',
        `The payment ${id} needs no person: it has no attention, and no refund of it has failed.`,
      )
    await markResolved(tx, id)
    for (const kind of [attention, 'refund_failed'] as const)
      if (kind) await this.refunds.recover(tx, kind, payment, note)
    await appendChange(tx, { paymentId: id, at: this.#options.clock.now(), change: 'resolved', actor, note })
    return requirePayment(await findPayment(tx, id), id)
  }

  /** The channel of that name. Rejects with `channel_not_found`. */
  channel(name: string): PaymentChannel {
    const channel = this.#options.channels.get(name)
    if (channel) return channel
    const known = [...this.#options.channels.keys()]
    const hint =
      known.length === 0 ? 'none is configured ([payments.channels.<name>])' : `there are ${known.join(', ')}`
    throw noChannel(name, `; ${hint}`)
  }

  /** Money with our mark for a payment that is not here, such as after a restore. */
  async #takeUnknown(
    tx: Tx,
    {
      channel,
      number,
      state,
    }: { readonly channel: string; readonly number: string; readonly state: ProviderPayment },
    actor: string,
  ): Promise<CallbackOutcome> {
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
    if (!(await insertPayment(tx, payment))) return 'unchanged'
    const inserted = requirePayment(await findPayment(tx, payment.id), payment.id)
    await this.#record(tx, inserted, 'paid', actor, null)
    await raiseAttention(tx, this.#options, inserted, 'unknown_order', actor)
    return 'applied'
  }

  /** Applies the provider's state to a payment; `false` if it changes nothing. */
  async #applyState(tx: Tx, found: PaymentRow, state: ProviderPayment, actor: string): Promise<boolean> {
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

  /** The money has come: moves the payment, and its order with it if nothing speaks against it. */
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
      await this.refunds.create(tx, next.id, { reason: attention }, WORKER)
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

  /** Compare-and-set with its history and event; `false` if the payment has left its status meanwhile. */
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
    if (change === 'created') return
    tx.afterCommit(() => {
      this.#changes.increment({ channel, status })
      logger.debug({ payment_id: id, channel, status, actor }, 'payment changed')
    })
  }

  async orderLeftPending(tx: Tx, orderId: string): Promise<void> {
    const { channels, clock, wakePayments } = this.#options
    if (channels.size === 0) return
    if ((await markOrderClosing(tx, orderId, clock.now())) > 0) tx.afterCommit(wakePayments)
  }

  async askBeforeExpiry(orderIds: readonly string[]): Promise<void> {
    const { channels, clock, store, logger } = this.#options
    if (channels.size === 0 || orderIds.length === 0) return
    const open = (await listOfOrders(store.read, orderIds)).filter(({ status }) => status === 'open')
    if (open.length === 0) return
    const asked = open.map(async (payment) => {
      const step = await this.askProvider({ ...payment, isClosing: false })
      await store.write((tx) => this.applyStep(tx, payment.id, step, actorOfStep(payment, step)))
    })
    const answers = Promise.allSettled(asked).then((outcomes) => {
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          logger.warn(
            { error: outcome.reason as unknown },
            'an open payment could not be asked for before its order expires',
          )
    })
    const over = new AbortController()
    await Promise.race([answers, clock.wait(ASK_FOR_MS, over.signal)])
    over.abort()
  }

  /** What the overview says; null without a channel. */
  async summary() {
    const { channels, store } = this.#options
    return channels.size === 0
      ? null
      : { channels: [...channels.keys()], ...(await countAttention(store.read)) }
  }
}

/** Money is taken in the name of the channel. */
export function actorOfStep({ channel }: Pick<PaymentRow, 'channel'>, step: CallOutcome): string {
  return step.type === 'state' ? `payment:${channel}` : WORKER
}

async function call(channel: PaymentChannel, payment: PaymentRow, now: number): Promise<CallOutcome> {
  const reference = referenceOf(payment)
  const isCreating = payment.status === 'creating'
  // Even one that is to be closed is created again where nothing else says what it is called there.
  if (isCreating && !(payment.isClosing && channel.isKnownByNumber)) return createAt(channel, payment)
  const isClose = isUnfinished(payment) && (payment.isClosing || isActionDead(payment, now))
  const state = await (isClose ? channel.close(reference) : channel.query(reference))
  return { type: 'state', state, isClose }
}

/** A repeated call is refused, too, when an earlier one whose answer was lost has made the payment, and it is paid. */
async function createAt(channel: PaymentChannel, payment: PaymentRow): Promise<CallOutcome> {
  try {
    return { type: 'opened', opened: await channel.create(payment.number, payment.parameters) }
  } catch (error) {
    if (!isRefusal(error) || !channel.isKnownByNumber) throw error
    const state = await channel.query(referenceOf(payment)).catch((other: unknown) => {
      throw isRefusal(other) ? error : other
    })
    if (state.status === 'paid') return { type: 'state', state, isClose: false }
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ChannelError && error.outcome === 'refused'
}

function blankPayment(now: number) {
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

function requirePayment(payment: PaymentRow | undefined, id: string): PaymentRow {
  if (!payment) throw notFound('payment', id)
  return payment
}
