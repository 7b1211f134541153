import { randomBytes } from 'node:crypto'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Channel } from './channels.ts'

export type PaymentStatus = 'open' | 'processing' | 'paid' | 'closed' | 'failed'

export interface MockPayment {
  readonly channel: Channel
  /** The merchant's number. */
  readonly number: string
  /** The provider's id: of a session, transaction or trade. */
  readonly id: string
  /** The part of the address of the payer's page that nobody can guess. */
  readonly token: string
  /** The requested amount; with the scenario `wrong_amount` the paid one. */
  amountCents: number
  readonly currency: string
  readonly subject: string
  /** Values of the merchant that the provider repeats: `attach`, `body` or metadata. */
  readonly marks: Readonly<Record<string, string>>
  readonly returnUrl: string | undefined
  /** The last part of the address for callbacks, which is the name of the platform's channel. */
  readonly callbackName: string
  /** A repeated call must be equal. */
  readonly parameters: string
  readonly createdAt: number
  readonly expiresAt: number
  status: PaymentStatus
  /** Alipay has no trade before somebody has scanned the code. */
  isScanned: boolean
  paidAt: number | undefined
  readonly refunds: MockRefund[]
}

export interface MockRefund {
  readonly number: string
  readonly id: string
  readonly amountCents: number
  readonly marks: Readonly<Record<string, string>>
  readonly parameters: string
  readonly callbackName: string
  readonly createdAt: number
  status: 'pending' | 'succeeded' | 'failed'
}

/** The content of a callback, with payment and refund as they were at the event. */
export interface PaymentEvent {
  readonly id: string
  readonly kind: 'paid' | 'processing' | 'declined' | 'failed' | 'closed' | 'refunded'
  readonly at: number
  readonly payment: Readonly<MockPayment>
  readonly refund: Readonly<MockRefund> | undefined
}

export const ACTIONS = ['pay', 'fail', 'wait'] as const
export type PayerAction = (typeof ACTIONS)[number]

export type NewMockPayment = Omit<
  MockPayment,
  'token' | 'createdAt' | 'status' | 'isScanned' | 'paidAt' | 'refunds'
>

/** The payments and refunds of all providers, in memory. */
export class Book {
  readonly #clock: Clock
  /** Called with each event, in the turn of its change. */
  onEvent: (event: PaymentEvent) => void = () => undefined
  readonly #byNumber = new Map<string, MockPayment>()
  readonly #byId = new Map<string, MockPayment>()
  readonly #byToken = new Map<string, MockPayment>()
  readonly #refunds = new Map<string, { readonly payment: MockPayment; readonly refund: MockRefund }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(order: NewMockPayment): MockPayment {
    const payment: MockPayment = {
      ...order,
      token: randomBytes(16).toString('base64url'),
      createdAt: this.#clock.now(),
      status: 'open',
      isScanned: false,
      paidAt: undefined,
      refunds: [],
    }
    this.#byNumber.set(`${payment.channel} ${payment.number}`, payment)
    this.#byId.set(payment.id, payment)
    this.#byToken.set(payment.token, payment)
    return payment
  }

  ofNumber(channel: Channel, number: string): MockPayment | undefined {
    return this.#current(this.#byNumber.get(`${channel} ${number}`))
  }

  ofId(id: string): MockPayment | undefined {
    return this.#current(this.#byId.get(id))
  }

  ofToken(token: string): MockPayment | undefined {
    return this.#current(this.#byToken.get(token))
  }

  /** Newest first. */
  payments(): MockPayment[] {
    return [...this.#byToken.values()].map((each) => this.#current(each) ?? each).toReversed()
  }

  refund(channel: Channel, number: string) {
    return this.#refunds.get(`${channel} ${number}`)
  }

  /** The payer pays a cent more than was asked for. */
  payMore(id: string): void {
    const payment = this.#byId.get(id)
    if (payment) payment.amountCents++
  }

  /** The cents that are left to refund. */
  leftOf({ amountCents, refunds }: MockPayment): number {
    return refunds.reduce(
      (left, { status, amountCents: cents }) => left - (status === 'failed' ? 0 : cents),
      amountCents,
    )
  }

  addRefund(payment: MockPayment, request: Omit<MockRefund, 'createdAt'>): MockRefund {
    const refund: MockRefund = { ...request, createdAt: this.#clock.now() }
    payment.refunds.push(refund)
    this.#refunds.set(`${payment.channel} ${refund.number}`, { payment, refund })
    return refund
  }

  /** Ends a refund and calls back. */
  endRefund(payment: MockPayment, refund: MockRefund, status: 'succeeded' | 'failed'): void {
    refund.status = status
    this.#emit('refunded', payment, refund)
  }

  /** What the payer does on the page. Does nothing to a payment that has ended. */
  act(payment: MockPayment, action: PayerAction): void {
    if (!['open', 'processing'].includes(payment.status)) return
    payment.isScanned = true
    if (action === 'pay') return this.pay(payment)
    if (action === 'wait') return this.#move(payment, 'processing', 'processing')
    // A payer whose card was declined may try another one; money that was under way fails for good.
    const isFinal = payment.status === 'processing' && payment.channel === 'stripe'
    return isFinal ? this.#move(payment, 'failed', 'failed') : this.#move(payment, 'open', 'declined')
  }

  /** Pays a payment, even if it is closed already: the payer may have been faster. */
  pay(payment: MockPayment): void {
    payment.isScanned = true
    payment.paidAt = this.#clock.now()
    this.#move(payment, 'paid', 'paid')
  }

  close(payment: MockPayment): void {
    this.#move(payment, 'closed', 'closed')
  }

  #move(payment: MockPayment, status: PaymentStatus, kind: PaymentEvent['kind']): void {
    payment.status = status
    this.#emit(kind, payment)
  }

  #emit(kind: PaymentEvent['kind'], payment: MockPayment, refund?: MockRefund): void {
    this.onEvent({
      id: randomBytes(16).toString('hex'),
      kind,
      at: this.#clock.now(),
      payment: structuredClone(payment),
      refund: refund && { ...refund },
    })
  }

  /** A payment ends by itself at its time. */
  #current(payment: MockPayment | undefined): MockPayment | undefined {
    if (payment?.status === 'open' && payment.expiresAt <= this.#clock.now()) this.close(payment)
    return payment
  }
}
