import type { Tx } from '../store/store.ts'

/** Headers of a request, their names in lower case. */
export type CallbackHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * A provider of payments, such as Stripe, with the account of this installation.
 *
 * Amounts are integers in cents of the currency of the installation. A `number` is the name of a payment or refund at the
 * provider: 32 lower-case hex digits, made here once. A call lasts at most 10 seconds.
 *
 * @throws ChannelError of every call whose outcome is not known, or which the provider refused.
 */
export interface PaymentChannel {
  /** Its name in the configuration, such as `wechat`. */
  readonly name: string
  readonly kind: ChannelKind
  /** Whether a payment can be queried by our number; otherwise only by the id in the response of `create`. */
  readonly isKnownByNumber: boolean
  /** Why the provider refuses a payment of this amount; undefined if it accepts it. */
  amountRefusal(cents: number): string | undefined
  /** The exact parameters of a call of `create`, as text to keep: each repetition sends the same bytes. */
  parametersOf(payment: NewPayment): string
  /** May be repeated with the same number and parameters: the provider makes one payment. */
  create(number: string, parameters: string): Promise<OpenedPayment>
  query(payment: PaymentReference): Promise<ProviderPayment>
  /** Ends an open payment at the provider; answers what it is there afterwards, which is `paid` if the payer was faster. */
  close(payment: PaymentReference): Promise<ProviderPayment>
  /** May be repeated with the same number: the provider refunds once. */
  refund(refund: NewRefund): Promise<ProviderRefund>
  queryRefund(refund: RefundReference): Promise<ProviderRefund>
  /**
   * What a callback says, verified on its raw bytes before anything is parsed.
   *
   * @throws BadSignature
   */
  verifyCallback(headers: CallbackHeaders, body: Buffer): Callback
  /** The provider's answers to its callbacks. */
  readonly acknowledgement: CallbackAnswer
  /**
   * The payments and refunds of a day, `YYYY-MM-DD` in the time zone of the provider's books, as a stream; undefined if the
   * provider has no bill of this day (yet).
   */
  bill(date: string): Promise<AsyncIterable<BillRow> | undefined>
  /** A bill that a person has downloaded: the file as the provider gives it. */
  billOf(file: string): AsyncIterable<BillRow>
  /** Closes its connections. */
  end(): Promise<void>
}

export type ChannelKind = 'stripe' | 'wechatpay' | 'alipay'

export interface NewPayment {
  readonly number: string
  readonly orderId: string
  readonly amountCents: number
  readonly currency: string
  /** Where the payer comes back to, if the provider leads there. */
  readonly returnUrl: string | undefined
  /** When the order ends, in epoch milliseconds; undefined if it does not. */
  readonly expiresAt: number | undefined
  /** In epoch milliseconds: parameters with a time are computed once. */
  readonly now: number
}

export interface PaymentReference {
  readonly number: string
  readonly providerId: string | undefined
  readonly amountCents: number
  readonly currency: string
}

export interface OpenedPayment {
  readonly providerId: string | undefined
  readonly action: PaymentAction
}

/** What the payer does. */
export interface PaymentAction {
  readonly type: 'redirect' | 'qr_code'
  readonly url: string
  /** In epoch milliseconds. */
  readonly expiresAt: number
}

/**
 * A payment as the provider sees it. `unknown`: the provider has no payment of this number yet; it may still come into
 * being and be paid.
 */
export interface ProviderPayment {
  readonly status: 'open' | 'paid' | 'closed' | 'failed' | 'unknown'
  readonly providerId: string | undefined
  /** What was paid, in cents; undefined before. */
  readonly amountCents: number | undefined
  readonly currency: string | undefined
  /** In epoch milliseconds. */
  readonly paidAt: number | undefined
  readonly reason: string | undefined
}

export interface NewRefund {
  /** The number of the refund. */
  readonly number: string
  readonly payment: PaymentReference
  readonly amountCents: number
  readonly reason: string
}

export interface RefundReference {
  readonly number: string
  readonly providerId: string | undefined
  readonly payment: PaymentReference
  readonly amountCents: number
}

/** `unknown`: the provider has none of this number; it may be asked for again with the same one. */
export interface ProviderRefund {
  readonly status: 'pending' | 'succeeded' | 'failed' | 'unknown'
  readonly providerId: string | undefined
  readonly reason: string | undefined
}

/**
 * What a verified callback reports. `other`: it is about something that this installation did not make, or that changes
 * nothing; it is acknowledged and counted.
 */
export type Callback = {
  /** The id that the provider gave it: the same for each repetition. */
  readonly eventId: string
} & (
  | {
      readonly type: 'payment'
      readonly number: string
      readonly orderId: string | undefined
      readonly state: ProviderPayment
    }
  | { readonly type: 'refund'; readonly number: string; readonly state: ProviderRefund }
  | { readonly type: 'other' }
)

export interface CallbackAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: string
}

/** A row of the provider's books that carries our number. */
export interface BillRow {
  readonly type: 'payment' | 'refund'
  readonly number: string
  readonly providerId: string | undefined
  readonly status: 'succeeded' | 'pending' | 'failed'
  readonly amountCents: number
}

/** Thrown for a callback that does not come from the provider, or is too old. Nothing of it was read. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature'
}

/**
 * A call without the wanted outcome. `refused`: the provider has decided, and a repetition changes nothing. `unclear`: no
 * answer, or one that says nothing about the outcome; the same call may be repeated.
 */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly outcome: 'refused' | 'unclear'
  /** The provider's own code, such as `ORDERPAID`; it holds no secret and no personal data. */
  readonly code: string | undefined

  constructor(message: string, outcome: 'refused' | 'unclear', code?: string, cause?: unknown) {
    super(message, { cause })
    this.outcome = outcome
    this.code = code
  }
}

/** What an adapter needs to know of its channel. */
export interface ChannelSettings {
  readonly name: string
  readonly kind: ChannelKind
  readonly apiUrl: string
  /** ISO 4217, upper case, with two decimals. */
  readonly currency: string
  /** Where the provider reports to: `<public_url>/payments/callbacks/<name>`. */
  readonly callbackUrl: string
  /** The variables of the secrets file; `X_FILE` is here as `X`, with the text of its file. */
  readonly secrets: Readonly<Record<string, string>>
}

/** What the orders need of the payments. */
export interface OrderPayments {
  /** An order is no longer pending: its open payments are closed at the provider, after the commit. */
  orderLeftPending(tx: Tx, orderId: string): Promise<void>
  /** Asks the providers once for the open payments of orders that are about to expire; resolves within 5 seconds. */
  askBeforeExpiry(orderIds: readonly string[]): Promise<void>
}
