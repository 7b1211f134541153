import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import type { MockPayment } from '../../programs/mock-pay/book.ts'
import { channelProblems, PAYMENT_SETTINGS } from '../../src/config/payments.ts'
import {
  BadSignature,
  ChannelError,
  type BillRow,
  type Callback,
  type ChannelKind,
  type NewPayment,
  type PaymentChannel,
  type PaymentReference,
} from '../../src/ports/payments.ts'
import type { PayWorld, ReceivedCallback } from '../support/mock-pay.ts'

const NUMBER = '0191c2a7b7d07c3e8f00a1b2c3d4e5f6'
const REFUND = '0191c2a7b7d07c3e8f00a1b2c3d4e5f7'
const ORDER = '0191c2a7-b7d0-7c3e-8f00-000000000001'

export interface PaymentChannelTraits {
  /** Whether the provider knows a payment before somebody has looked at it. */
  readonly isKnownBeforeScan: boolean
  /** Whether a callback has a time that is signed. */
  readonly signsTime: boolean
  /** Whether a refund that was taken may fail later. */
  readonly mayRefundFailLater: boolean
  readonly action: 'redirect' | 'qr_code'
}

const isError = (outcome: ChannelError['outcome'], code?: string) => (error: unknown) =>
  error instanceof ChannelError && error.outcome === outcome && (code === undefined || error.code === code)

/** The currencies that a channel of this kind may be configured with. */
const currenciesOf = (kind: ChannelKind) =>
  Intl.supportedValuesOf('currency').filter((currency) => {
    const channel = { name: 'shop', kind, secretsFile: '/', apiUrl: '', source: '' }
    const isTaken = PAYMENT_SETTINGS['payments.currency'].type.parse(currency, '') !== undefined
    return isTaken && channelProblems([channel], { currency, publicUrl: 'https://example.org' }).length === 0
  })

function leastCents(channel: PaymentChannel): number {
  let cents = 1
  while (channel.amountRefusal(cents) !== undefined) cents++
  return cents
}

const rowsOf = async (rows: AsyncIterable<BillRow> | undefined) => (rows ? await Array.fromAsync(rows) : [])

/** What every implementation of the port `PaymentChannel` does, with the mock as its provider. */
export function describePaymentChannelContract(
  name: string,
  open: () => Promise<PayWorld>,
  traits: PaymentChannelTraits,
): void {
  describe(`the payment channel ${name}`, () => {
    const newPayment = ({ clock }: PayWorld, more: Partial<NewPayment> = {}): NewPayment => ({
      number: NUMBER,
      orderId: ORDER,
      amountCents: 1_999,
      currency: 'CNY',
      returnUrl: undefined,
      expiresAt: clock.now() + 15 * 60_000,
      now: clock.now(),
      ...more,
    })
    const make = async (w: PayWorld, more: Partial<NewPayment> = {}) => {
      const payment = newPayment(w, more)
      const opened = await w.channel.create(payment.number, w.channel.parametersOf(payment))
      const reference: PaymentReference = { ...payment, providerId: opened.providerId }
      return { opened, reference, booked: w.mock.book.payments()[0] as MockPayment }
    }
    const makePaid = async (w: PayWorld) => {
      const made = await make(w)
      w.mock.book.act(made.booked, 'pay')
      return made
    }
    const refund = (w: PayWorld, payment: PaymentReference, amountCents: number, number = REFUND) =>
      w.channel.refund({ number, payment, amountCents, reason: '半 half of it' })
    const verify = (w: PayWorld, { headers, body }: ReceivedCallback): Callback =>
      w.channel.verifyCallback(headers, body)

    it('creates a payment with an action that ends with the order', async () => {
      await using w = await open()
      const { opened, booked } = await make(w)
      assert.equal(opened.action.type, traits.action)
      assert.equal(opened.action.url, `${w.url}/pay/${booked.token}`)
      assert.equal(opened.action.expiresAt, w.clock.now() + 15 * 60_000)
      assert.deepEqual([booked.number, booked.amountCents, booked.currency], [NUMBER, 1_999, 'CNY'])
    })

    it('makes one payment of repeated calls, also when the order has almost ended', async () => {
      await using w = await open()
      const parameters = w.channel.parametersOf(newPayment(w))
      assert.equal(w.channel.parametersOf(newPayment(w)), parameters)
      w.script('create', 'reset')
      await assert.rejects(w.channel.create(NUMBER, parameters), isError('unclear'))
      w.clock.advance(13 * 60_000)
      const first = await w.channel.create(NUMBER, parameters)
      assert.deepEqual(await w.channel.create(NUMBER, parameters), first)
      assert.equal(w.mock.book.payments().length, 1)
    })

    it('is refused a number that has other parameters already', async () => {
      await using w = await open()
      await make(w)
      await assert.rejects(make(w, { amountCents: 2_000 }), isError('refused'))
    })

    it('takes an order without an end, and one whose id is not plain', async () => {
      await using w = await open()
      const { booked } = await make(w, { expiresAt: undefined, orderId: 'a/b=c&d "é" 订单' })
      w.mock.book.act(booked, 'pay')
      const [callback] = await w.callbacks()
      const said = verify(w, callback as ReceivedCallback)
      assert.equal(said.type === 'payment' && said.orderId, 'a/b=c&d "é" 订单')
    })

    it('says what a payment is: unknown, open, paid', async () => {
      await using w = await open()
      const none = { number: NUMBER, providerId: undefined, amountCents: 1, currency: 'CNY' }
      assert.equal((await w.channel.query(none)).status, 'unknown')
      const { reference, booked } = await make(w)
      const before = await w.channel.query(reference)
      assert.equal(before.status, traits.isKnownBeforeScan ? 'open' : 'unknown')
      assert.equal(before.amountCents, undefined)
      w.mock.book.act(booked, 'wait')
      assert.equal((await w.channel.query(reference)).status, 'open')
      w.mock.book.act(booked, 'pay')
      const { status, amountCents, currency, paidAt } = await w.channel.query(reference)
      assert.deepEqual([status, amountCents, currency, paidAt], ['paid', 1_999, 'CNY', w.clock.now()])
    })

    it('a payment that was refunded as a whole is still paid', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      await refund(w, reference, 1_999)
      assert.equal((await w.channel.query(reference)).status, 'paid')
    })

    it('closes an open payment, twice; a paid one stays paid', async () => {
      await using w = await open()
      const { reference, booked } = await make(w)
      booked.isScanned = true
      assert.equal((await w.channel.close(reference)).status, 'closed')
      assert.equal((await w.channel.close(reference)).status, 'closed')
      assert.equal((await w.channel.query(reference)).status, 'closed')
      w.mock.book.pay(booked)
      const { status, amountCents } = await w.channel.close(reference)
      assert.deepEqual([status, amountCents], ['paid', 1_999])
    })

    it('reports a payment by a signed callback', async () => {
      await using w = await open()
      w.script('callback', 'twice')
      const { booked } = await makePaid(w)
      const [first, second, ...others] = await w.callbacks()
      assert.deepEqual(others, [])
      const said = verify(w, first as ReceivedCallback)
      assert.equal(verify(w, second as ReceivedCallback).eventId, said.eventId)
      assert.notEqual(said.eventId, '')
      assert.ok(said.type === 'payment')
      assert.deepEqual([said.number, said.orderId], [NUMBER, ORDER])
      const { status, amountCents, currency, paidAt } = said.state
      assert.deepEqual([status, amountCents, currency, paidAt], ['paid', 1_999, 'CNY', booked.paidAt])
      assert.equal(first?.path, `/payments/callbacks/${w.channel.name}`)
    })

    it('repeats a callback until it is acknowledged', async () => {
      await using w = await open()
      for (const status of [500, 401]) w.answerNext(status)
      await makePaid(w)
      while (w.received.length < 3) await w.callbacks().then(() => new Promise(setImmediate))
      const ids = w.received.map((each) => verify(w, each).eventId)
      assert.equal(new Set(ids).size, 1)
    })

    it('refuses a callback that is forged, changed, stripped or of another time', async () => {
      await using w = await open()
      w.script('callback', 'bad_signature')
      w.answerNext(401)
      await makePaid(w)
      await w.callbacks()
      // The provider sends it again, properly.
      while (w.received.length < 2) await new Promise(setImmediate)
      const [forged, good] = w.received as [ReceivedCallback, ReceivedCallback]
      assert.throws(() => verify(w, forged), BadSignature)
      assert.equal(verify(w, good).type, 'payment')
      const changed = Buffer.from(good.body)
      changed[5] = (changed[5] ?? 0) ^ 1
      assert.throws(() => w.channel.verifyCallback(good.headers, changed), BadSignature)
      assert.throws(() => w.channel.verifyCallback(good.headers, Buffer.alloc(0)), BadSignature)
      assert.throws(() => w.channel.verifyCallback({}, Buffer.from('{"id":1}')), BadSignature)
    })

    if (traits.signsTime)
      it('refuses a callback that is older than five minutes', async () => {
        await using w = await open()
        await makePaid(w)
        const [callback] = await w.callbacks()
        w.clock.advance(300_000)
        assert.equal(verify(w, callback as ReceivedCallback).type, 'payment')
        w.clock.advance(1_001)
        assert.throws(() => verify(w, callback as ReceivedCallback), BadSignature)
      })

    it('reports the amount that the provider has taken', async () => {
      await using w = await open()
      w.script('callback', 'wrong_amount')
      await makePaid(w)
      const [callback] = await w.callbacks()
      const said = verify(w, callback as ReceivedCallback)
      assert.equal(said.type === 'payment' && said.state.amountCents, 2_000)
    })

    it('takes back all of a payment of another amount than was asked for', async () => {
      await using w = await open()
      w.script('callback', 'wrong_amount')
      const { reference, booked } = await makePaid(w)
      await w.callbacks()
      assert.equal((await w.channel.query(reference)).amountCents, 2_000)
      await refund(w, { ...reference, amountCents: 2_000 }, 2_000)
      assert.deepEqual(
        booked.refunds.map(({ amountCents }) => amountCents),
        [2_000],
      )
    })

    it('refunds once for each number, and not more than is left', async () => {
      await using w = await open()
      const { reference, booked } = await makePaid(w)
      const reported = await refund(w, reference, 999)
      assert.ok(['succeeded', 'pending'].includes(reported.status))
      await refund(w, reference, 999)
      assert.equal(booked.refunds.length, 1)
      await assert.rejects(refund(w, reference, 1_001, REFUND.replace(/.$/, '8')), isError('refused'))
      const known = { number: REFUND, providerId: reported.providerId, payment: reference, amountCents: 999 }
      assert.equal((await w.channel.queryRefund(known)).status, 'succeeded')
      assert.equal((await w.channel.queryRefund({ ...known, providerId: undefined })).status, 'succeeded')
      const other = { ...known, number: REFUND.replace(/.$/, '9'), providerId: undefined }
      assert.equal((await w.channel.queryRefund(other)).status, 'unknown')
    })

    it('reports a refund by a callback', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      await refund(w, reference, 1_999)
      const said = (await w.callbacks()).map((each) => verify(w, each))
      const told = said.find((each) => each.type === 'refund')
      assert.ok(told?.type === 'refund')
      assert.deepEqual([told.number, told.state.status], [REFUND, 'succeeded'])
    })

    it('a refund may fail', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      w.script('refund', 'fail')
      if (!traits.mayRefundFailLater) return await assert.rejects(refund(w, reference, 5), isError('refused'))
      const { providerId } = await refund(w, reference, 5)
      const known = { number: REFUND, providerId, payment: reference, amountCents: 5 }
      assert.equal((await w.channel.queryRefund(known)).status, 'failed')
      const said = (await w.callbacks()).map((each) => verify(w, each)).at(-1)
      assert.equal(said?.type === 'refund' && said.state.status, 'failed')
    })

    it('reads the payments and refunds of a day from the bill', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      await refund(w, reference, 999)
      const rows = await rowsOf(await w.channel.bill('2026-01-31'))
      const seen = rows.map(({ type, number, status, amountCents }) => [type, number, status, amountCents])
      assert.deepEqual(
        seen.toSorted(([one], [other]) => String(one).localeCompare(String(other))),
        [
          ['payment', NUMBER, 'succeeded', 1_999],
          ['refund', REFUND, 'succeeded', 999],
        ],
      )
      assert.deepEqual(await rowsOf(await w.channel.bill('2026-01-30')), [])
      w.script('bill', 'no_bill')
      assert.deepEqual(await rowsOf(await w.channel.bill('2026-01-31')), [])
      w.script('bill', 'bill_differs')
      assert.equal((await rowsOf(await w.channel.bill('2026-01-31'))).length, 1)
    })

    it('reads every page of a bill', async () => {
      await using w = await open()
      const numbers = Array.from(
        { length: 205 },
        (_, index) => NUMBER.slice(0, -4) + String(index).padStart(4, '0'),
      )
      for (const number of numbers) {
        await make(w, { number })
        w.mock.book.pay(w.mock.book.payments()[0] as MockPayment)
      }
      const rows = await rowsOf(await w.channel.bill('2026-01-31'))
      assert.deepEqual(rows.map(({ number }) => number).toSorted(), numbers)
    })

    it('an answer that says nothing about the outcome is unclear, a decision is refused', async () => {
      await using w = await open()
      for (const [index, kind] of (['429', '500', 'reset', 'reset_before'] as const).entries()) {
        w.script('create', kind)
        await assert.rejects(make(w, { number: NUMBER.replace(/.$/, String(index)) }), isError('unclear'))
      }
      assert.equal(w.mock.book.payments().length, 1, 'only after the effect')
      w.script('create', 'fail')
      await assert.rejects(make(w), isError('refused'))
    })

    it('no error has a secret, an address or a person in it', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      for (const kind of ['429', '500', 'reset', 'fail'] as const) {
        w.script('query', kind)
        const error = await w.channel.query(reference).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        assert.ok(error instanceof ChannelError)
        const text = JSON.stringify([error.message, error.code, inspect(error.cause)])
        const secrets = [...Object.values(w.settings.secrets), 'example.com', 'Payer', 'openid', '127.0.0.1']
        for (const secret of secrets) assert.ok(!text.includes(secret), text)
      }
    })

    it('a provider that is not there is unclear', async () => {
      await using w = await open()
      const { reference } = await makePaid(w)
      await w.mock.close(0)
      await assert.rejects(w.channel.query(reference), isError('unclear', 'ECONNREFUSED'))
    })

    it('refuses amounts that the provider does not take, in each currency', async () => {
      await using w = await open()
      const currencies = currenciesOf(w.channel.kind)
      assert.ok(currencies.includes('CNY'))
      for (const [index, currency] of currencies.entries()) {
        const channel = w.inCurrency(currency)
        const number = NUMBER.slice(0, -4) + String(index).padStart(4, '0')
        const least = leastCents(channel)
        const payment = newPayment(w, { number, currency, amountCents: least })
        assert.match(channel.amountRefusal(least - 1) ?? '', /at least|0\.01/, currency)
        // What is taken here is not too little there.
        await w.channel.create(number, channel.parametersOf(payment))
      }
    })
  })
}
