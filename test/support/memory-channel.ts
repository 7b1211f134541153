import type { Clock } from '../../src/kernel/clock.ts'
import { HOUR } from '../../src/kernel/time.ts'
import {
  BadSignature,
  ChannelError,
  type BillRow,
  type Callback,
  type CallbackHeaders,
  type NewPayment,
  type NewRefund,
  type OpenedPayment,
  type PaymentChannel,
  type PaymentReference,
  type ProviderPayment,
  type ProviderRefund,
  type RefundReference,
} from '../../src/ports/payments.ts'

type Call = 'create' | 'query' | 'close' | 'refund' | 'queryRefund'
type StoredPayment = {
  parameters: string
  cents: number
  status: ProviderPayment['status']
  paidCents?: number
}

const SIGNATURE = 'good'
const COUNTLESS = 1_000_000_000

/** A provider in memory, which a test may let fail. */
export class MemoryChannel implements PaymentChannel {
  readonly name: string
  readonly kind = 'stripe'
  isKnownByNumber = true
  readonly acknowledgement = { status: 200, contentType: 'text/plain', body: 'success' }
  readonly payments = new Map<string, StoredPayment>()
  readonly refunds = new Map<string, { cents: number; status: ProviderRefund['status'] }>()
  readonly calls: string[] = []
  /** The next calls that fail: without an answer, although the provider may have done its work. */
  readonly faults: { call: Call; outcome: 'unclear' | 'refused'; isDone: boolean }[] = []
  refundStatus: ProviderRefund['status'] = 'succeeded'
  books: BillRow[] | undefined
  readonly #clock: Clock
  #events = 0

  constructor(clock: Clock, name = 'memory') {
    this.#clock = clock
    this.name = name
  }

  amountRefusal(cents: number): string | undefined {
    return cents > COUNTLESS ? 'it is too much' : undefined
  }

  parametersOf({ amountCents, orderId, now }: NewPayment): string {
    return JSON.stringify({ amountCents, orderId, now })
  }

  create(number: string, parameters: string): Promise<OpenedPayment> {
    return this.#call('create', number, () => {
      const known = this.payments.get(number)
      if (known && known.parameters !== parameters) throw new ChannelError('other parameters', 'refused')
      const { amountCents } = JSON.parse(parameters) as { amountCents: number }
      if (!known) this.payments.set(number, { parameters, cents: amountCents, status: 'open' })
      const action = {
        type: 'redirect',
        url: `https://pay.example.org/${number}`,
        expiresAt: this.#clock.now() + HOUR,
      } as const
      return { providerId: `p-${number}`, action }
    })
  }

  query({ number }: PaymentReference): Promise<ProviderPayment> {
    return this.#call('query', number, () => this.#stateOf(number))
  }

  close({ number, providerId }: PaymentReference): Promise<ProviderPayment> {
    return this.#call('close', number, () => {
      const isFound = this.isKnownByNumber || providerId !== undefined
      const payment = isFound ? this.payments.get(number) : undefined
      if (!isFound) return this.#stateOf('')
      if (payment?.status === 'open') payment.status = 'closed'
      return this.#stateOf(number)
    })
  }

  refund({ number, amountCents, payment }: NewRefund): Promise<ProviderRefund> {
    return this.#call('refund', number, () => {
      const { paidCents = payment.amountCents } = this.payments.get(payment.number) ?? {}
      // As WeChat Pay does.
      if (paidCents !== payment.amountCents) throw new ChannelError('another total was paid', 'refused')
      if (!this.refunds.has(number))
        this.refunds.set(number, { cents: amountCents, status: this.refundStatus })
      return this.#refundOf(number)
    })
  }

  queryRefund({ number }: RefundReference): Promise<ProviderRefund> {
    return this.#call('queryRefund', number, () => this.#refundOf(number))
  }

  verifyCallback(headers: CallbackHeaders, body: Buffer): Callback {
    if (headers['x-signature'] !== SIGNATURE) throw new BadSignature('wrong')
    return JSON.parse(body.toString()) as Callback
  }

  bill(): Promise<AsyncIterable<BillRow> | undefined> {
    return Promise.resolve(this.books && rowsOf(this.books))
  }

  billOf(): AsyncIterable<BillRow> {
    return rowsOf(this.books ?? [])
  }

  end(): Promise<void> {
    return Promise.resolve()
  }

  /** The payer pays; returns the callback that reports it. */
  pay(number: string, cents = this.payments.get(number)?.cents ?? 0): Callback {
    const payment = this.payments.get(number) ?? { parameters: '', cents, status: 'open' }
    this.payments.set(number, { ...payment, status: 'paid', paidCents: cents })
    return {
      eventId: `e-${++this.#events}`,
      type: 'payment',
      number,
      orderId: undefined,
      state: this.#stateOf(number),
    }
  }

  refundCallback(number: string, status: ProviderRefund['status']): Callback {
    const state = {
      status,
      providerId: undefined,
      reason: status === 'failed' ? 'ACCOUNT_CLOSED' : undefined,
    }
    return { eventId: `e-${++this.#events}`, type: 'refund', number, state }
  }

  #stateOf(number: string): ProviderPayment {
    const payment = this.payments.get(number)
    const isPaid = payment?.status === 'paid'
    return {
      status: payment?.status ?? 'unknown',
      providerId: payment && `p-${number}`,
      amountCents: isPaid ? payment.paidCents : undefined,
      currency: isPaid ? 'CNY' : undefined,
      paidAt: isPaid ? this.#clock.now() : undefined,
      reason: undefined,
    }
  }

  #refundOf(number: string): ProviderRefund {
    const status = this.refunds.get(number)?.status ?? 'unknown'
    return { status, providerId: undefined, reason: status === 'failed' ? 'ACCOUNT_CLOSED' : undefined }
  }

  async #call<T>(call: Call, number: string, work: () => T): Promise<T> {
    this.calls.push(`${call} ${number}`)
    const index = this.faults.findIndex((fault) => fault.call === call)
    const [fault] = index === -1 ? [] : this.faults.splice(index, 1)
    if (!fault || fault.isDone) {
      const result = work()
      if (!fault) return result
    }
    throw new ChannelError(`The call ${call} has failed.`, fault.outcome, 'FAULT')
  }
}

async function* rowsOf(rows: readonly BillRow[]): AsyncIterable<BillRow> {
  yield* rows
}
