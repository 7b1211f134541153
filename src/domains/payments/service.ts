import { AppError, invalidTransition, requireFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { SECOND } from '../../kernel/time.ts'
import type { OrderPayments, PaymentChannel } from '../../ports/payments.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { recoverPayment } from './alerts.ts'
import { Callbacks, noChannel } from './callbacks.ts'
import { ChannelHealth } from './channel-health.ts'
import type { PayableOrder, PaymentDeps } from './deps.ts'
import { needsPerson, numberOf, REQUEST_MS, type PaymentChange } from './model.ts'
import { blankPayment, PaymentStates } from './payment-states.ts'
import { actorOfOutcome, askProvider, type CallOutcome } from './provider-calls.ts'
import { Refunds } from './refunds.ts'
import {
  appendChange,
  countAttention,
  findPayment,
  findUnfinished,
  listOfOrders,
  listPaymentChanges,
  listPayments,
  lockPayment,
  markClosing,
  markOrderClosing,
  markResolved,
  setPaymentDue,
  type PaymentFilter,
  type PaymentRow,
} from './store.ts'

interface ServiceDeps extends PaymentDeps {
  /** Wake the runners of payments and refunds; called after a commit. */
  readonly wakePayments: () => void
  readonly wakeRefunds: () => void
}

const ASK_FOR_MS = 5 * SECOND

/** The payments of orders through providers: what people and orders ask for. Providers answer through {@link PaymentStates}. */
export class Payments implements OrderPayments {
  readonly #deps: ServiceDeps
  readonly refunds: Refunds
  readonly callbacks: Callbacks
  readonly health: ChannelHealth
  readonly states: PaymentStates
  /** The calls of this process that create a payment, by its id. */
  readonly #creating = new Map<string, Promise<void>>()

  constructor(deps: ServiceDeps) {
    this.#deps = deps
    this.refunds = new Refunds(deps, deps.wakeRefunds)
    this.health = new ChannelHealth(deps)
    this.states = new PaymentStates(deps, this.refunds)
    this.callbacks = new Callbacks(deps, this.states, this.refunds)
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
    const inserted = await this.states.insert(tx, payment, 'created')
    if (inserted) return { payment: inserted, outcome: 'created' }
    const other = await findUnfinished(tx, order.orderId, channel.name)
    if (other) return { payment: other, outcome: 'existing' }
    throw new Error(`The payment ${payment.id} cannot be inserted.`)
  }

  async #requirePayable(tx: Tx, orderId: string, channel: PaymentChannel): Promise<PayableOrder> {
    const order = requireFound(await this.#deps.orders.find(tx, orderId), 'order', orderId)
    if (order.status !== 'pending') {
      const message = `An order that is ${order.status} cannot be paid; only a pending one can.`
      throw invalidTransition(message, order.status, [])
    }
    const reason =
      order.amountCents === 0 ? 'nothing is to be paid' : channel.amountRefusal(order.amountCents)
    if (reason === undefined) return order
    const message = `The channel ${channel.name} cannot take ${order.amountCents} cents: ${reason}.`
    throw new AppError('invalid', 'amount_not_payable', message)
  }

  #newPayment(
    channel: PaymentChannel,
    order: PayableOrder,
    returnUrl: string | undefined,
    actor: string,
  ): Omit<PaymentRow, 'seq'> {
    const { clock, currency } = this.#deps
    const now = clock.now()
    const id = newId()
    const number = numberOf(id)
    const { orderId, amountCents, expiresAt } = order
    return {
      ...blankPayment(now),
      id,
      orderId,
      channel: channel.name,
      status: 'creating',
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
    const outcome = await this.askProvider(payment)
    await this.#apply(payment, outcome, payment.createdBy)
  }

  async #apply({ id }: PaymentRow, outcome: CallOutcome, actor: string): Promise<void> {
    await this.#deps.store.write(async (tx) => {
      await this.states.applyOutcome(tx, id, outcome, actor)
      await this.states.plan(tx, id)
    })
  }

  /** Makes the next call for a payment at its provider, outside of any transaction. */
  askProvider(payment: PaymentRow): Promise<CallOutcome> {
    return askProvider(this.#deps, payment)
  }

  /** Asks for the closing of an open payment. Rejects with `payment_not_found` and `invalid_transition`. */
  async requestClose(tx: Tx, id: string, actor: string): Promise<PaymentRow> {
    const payment = await this.get(id, tx)
    if (payment.status === 'closed') return payment
    if (payment.status !== 'open') {
      const message = `A payment that is ${payment.status} cannot be closed; only an open one can.`
      throw invalidTransition(message, payment.status, [])
    }
    const at = this.#deps.clock.now()
    await markClosing(tx, id)
    await setPaymentDue(tx, id, at + REQUEST_MS)
    await appendChange(tx, { paymentId: id, at, change: 'close_requested', actor, note: null })
    return payment
  }

  /** Closes a payment at the provider if that was requested; returns the resulting state. */
  async close(id: string): Promise<PaymentRow> {
    const payment = await this.get(id)
    if (payment.status !== 'open') return payment
    const outcome = await this.askProvider(payment)
    await this.#apply(payment, outcome, `payment:${payment.channel}`)
    return this.get(id)
  }

  /** Rejects with `payment_not_found`. */
  async get(id: string, queries: Queries = this.#deps.store.read): Promise<PaymentRow> {
    return requireFound(await findPayment(queries, id), 'payment', id)
  }

  list(filter: PaymentFilter, page: PageRequest) {
    return listPayments(this.#deps.store.read, filter, page)
  }

  /** The payments of an order, newest first. Rejects with `order_not_found`. */
  async listOfOrder(orderId: string, page: PageRequest) {
    await this.#deps.orders.get(orderId)
    return this.list({ orderId }, page)
  }

  /** Everything that has happened to a payment, oldest first. Rejects with `payment_not_found`. */
  async history(id: string): Promise<PaymentChange[]> {
    await this.get(id)
    return listPaymentChanges(this.#deps.store.read, id)
  }

  /**
   * Records that a person has dealt with the attention and the failed refunds of a payment. Rejects with `payment_not_found`
   * and `nothing_to_resolve`.
   */
  async resolve(tx: Tx, id: string, note: string, actor: string): Promise<PaymentRow> {
    const payment = requireFound(await lockPayment(tx, id), 'payment', id)
    if (!needsPerson(payment)) {
      const message = `The payment ${id} needs no person: it has no attention, and no refund of it has failed.`
      throw new AppError('conflict', 'nothing_to_resolve', message)
    }
    await markResolved(tx, id)
    for (const kind of [payment.attention, 'refund_failed'] as const)
      if (kind) await recoverPayment(tx, this.#deps, kind, payment, note)
    await appendChange(tx, { paymentId: id, at: this.#deps.clock.now(), change: 'resolved', actor, note })
    return this.get(id, tx)
  }

  /** The channel of that name. Rejects with `channel_not_found`. */
  channel(name: string): PaymentChannel {
    const channel = this.#deps.channels.get(name)
    if (channel) return channel
    const known = [...this.#deps.channels.keys()]
    const hint =
      known.length === 0 ? 'none is configured ([payments.channels.<name>])' : `there are ${known.join(', ')}`
    throw noChannel(name, `; ${hint}`)
  }

  async orderLeftPending(tx: Tx, orderId: string): Promise<void> {
    const { channels, clock, wakePayments } = this.#deps
    if (channels.size === 0) return
    if ((await markOrderClosing(tx, orderId, clock.now())) > 0) tx.afterCommit(wakePayments)
  }

  async askBeforeExpiry(orderIds: readonly string[]): Promise<void> {
    const { channels, clock, store, logger } = this.#deps
    if (channels.size === 0 || orderIds.length === 0) return
    const open = (await listOfOrders(store.read, orderIds)).filter(({ status }) => status === 'open')
    if (open.length === 0) return
    const calls = open.map(async (payment) => {
      const outcome = await this.askProvider({ ...payment, isClosing: false })
      await store.write((tx) =>
        this.states.applyOutcome(tx, payment.id, outcome, actorOfOutcome(payment, outcome)),
      )
    })
    const warn = (error: unknown) =>
      logger.warn({ error }, 'an open payment could not be asked for before its order expires')
    const answers = Promise.all(calls.map((call) => call.catch(warn)))
    const over = new AbortController()
    await Promise.race([answers, clock.wait(ASK_FOR_MS, over.signal)])
    over.abort()
  }

  /** The part of the overview about payments; null without a channel. */
  async summary() {
    const { channels, store } = this.#deps
    if (channels.size === 0) return null
    const count = (await countAttention(store.read)) ?? { attention: 0, oldestAt: null }
    return { channels: [...channels.keys()], ...count }
  }
}
