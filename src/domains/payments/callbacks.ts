import { AppError } from '../../kernel/errors.ts'
import type { Counter } from '../../kernel/metrics.ts'
import { DAY, HOUR } from '../../kernel/time.ts'
import {
  BadSignature,
  type Callback,
  type CallbackAnswer,
  type CallbackHeaders,
} from '../../ports/payments.ts'
import type { Tx } from '../../store/store.ts'
import { paymentAlarm } from './alerts.ts'
import type { PaymentDeps } from './deps.ts'
import type { PaymentStates } from './payment-states.ts'
import type { Refunds } from './refunds.ts'
import { findPaymentByNumber, forgetCallbacks, recordCallback } from './store.ts'

const CALLBACK_OUTCOMES = ['applied', 'repeated', 'unchanged', 'foreign', 'bad_signature'] as const
type CallbackOutcome = (typeof CALLBACK_OUTCOMES)[number]

const SIGNATURE_ALERT_EVERY_MS = HOUR
// The providers repeat a callback for some days at most.
const KEEP_CALLBACKS_MS = 30 * DAY

/** The callbacks of providers: each is verified on its raw bytes, recorded once and applied. */
export class Callbacks {
  readonly #deps: PaymentDeps
  readonly #states: PaymentStates
  readonly #refunds: Refunds
  readonly #received: Counter
  readonly #signatureAlertAt = new Map<string, number>()

  constructor(deps: PaymentDeps, states: PaymentStates, refunds: Refunds) {
    this.#deps = deps
    this.#states = states
    this.#refunds = refunds
    this.#received = deps.metrics.counter({
      name: 'payment_callbacks_total',
      help: 'Callbacks of payment providers.',
      labels: { channel: [...deps.channels.keys()], outcome: CALLBACK_OUTCOMES },
    })
  }

  /** Verifies a callback on its raw bytes. Rejects with `channel_not_found` and `bad_signature`. */
  async verify(name: string, headers: CallbackHeaders, body: Buffer): Promise<Callback> {
    const channel = this.#deps.channels.get(name)
    // The response does not reveal which channels exist.
    if (!channel) throw noChannel(name)
    try {
      return channel.verifyCallback(headers, body)
    } catch (error) {
      if (!(error instanceof BadSignature)) throw error
      await this.#refuseSignature(name)
      const message = 'The callback has no valid signature of the provider.'
      throw new AppError('unauthenticated', 'bad_signature', message, { cause: error })
    }
  }

  async #refuseSignature(channel: string): Promise<void> {
    const { clock, store, alerts } = this.#deps
    this.#received.increment({ channel, outcome: 'bad_signature' })
    const now = clock.monotonic()
    if (now - (this.#signatureAlertAt.get(channel) ?? -Infinity) < SIGNATURE_ALERT_EVERY_MS) return
    await store.write((tx) =>
      alerts.raise(tx, {
        ...paymentAlarm('payment.bad_signature:*', channel),
        title: `A callback of the payment channel ${channel} has a wrong signature`,
        body: 'It was refused. Either the keys of the channel are not those of the provider, or somebody forges callbacks.',
        severity: 'WARNING',
      }),
    )
    this.#signatureAlertAt.set(channel, now)
  }

  /** Records a verified callback, once, and applies it. */
  async receive(tx: Tx, name: string, callback: Callback): Promise<CallbackAnswer> {
    const channel = this.#deps.channels.get(name)
    if (!channel) throw noChannel(name)
    const outcome = await this.#receive(tx, name, callback)
    tx.afterCommit(() => this.#received.increment({ channel: name, outcome }))
    return channel.acknowledgement
  }

  async #receive(tx: Tx, name: string, callback: Callback): Promise<CallbackOutcome> {
    if (callback.type === 'other') return 'foreign'
    // A callback without an id cannot be recognized as repeated; the state of the row decides then.
    const { eventId } = callback
    if (
      eventId !== '' &&
      !(await recordCallback(tx, { channel: name, eventId, receivedAt: this.#deps.clock.now() }))
    )
      return 'repeated'
    const actor = `payment:${name}`
    if (callback.type === 'refund')
      return (await this.#refunds.apply(tx, name, callback.number, callback.state, actor))
        ? 'applied'
        : 'unchanged'
    const payment = await findPaymentByNumber(tx, callback.number)
    if (!payment) return this.#states.takeUnknown(tx, name, callback.number, callback.state, actor)
    // The number of a payment on another channel says nothing about this one.
    if (payment.channel !== name) return 'foreign'
    return (await this.#states.applyState(tx, payment, callback.state, actor)) ? 'applied' : 'unchanged'
  }

  /** Forgets callbacks that no provider repeats any more; returns how many. */
  prune(limit: number): Promise<number> {
    const { clock, store } = this.#deps
    return store.write((tx) => forgetCallbacks(tx, clock.now() - KEEP_CALLBACKS_MS, limit))
  }
}

/** An error that names no other channel; with a hint for callers who may know them. */
export function noChannel(name: string, hint = ''): AppError {
  const message = `There is no payment channel ${JSON.stringify(name)}${hint}.`
  return new AppError('not_found', 'channel_not_found', message)
}
