import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'
import { temporaryDirectory } from '../../../../test/support/platform.ts'
import { BadSignature, ChannelError, type Callback } from '../../../ports/payments.ts'
import { REPLAYED, verifySignature } from './api.ts'
import { reportRows } from './bill.ts'
import { createStripe } from './index.ts'

describePaymentChannelContract('stripe', () => openPayWorld('stripe'), {
  isKnownBeforeScan: true,
  signsTime: true,
  mayRefundFailLater: true,
  action: 'redirect',
})

const BODY = Buffer.from('{"id":"evt_1"}')
const TIME = 1_700_000_000
const V1 = 'c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925'

interface Verifying {
  readonly secrets?: readonly string[]
  readonly now?: number
}

const verify = (
  header: string | undefined,
  { secrets = ['whsec_test'], now = TIME * 1_000 }: Verifying = {},
) => verifySignature(header === undefined ? {} : { 'stripe-signature': header }, BODY, { secrets, now })

test('the documented signature is accepted, as one of several and of several secrets', () => {
  verify(`t=${TIME},v1=${V1}`)
  verify(`t=${TIME},v1=${'0'.repeat(64)},v1=${V1},v0=abc`)
  verify(`t=${TIME},v1=${V1}`, { secrets: ['whsec_new', 'whsec_test'] })
  verify(`t=${TIME}, v1=${V1}`, { now: (TIME + 300) * 1_000 })
  // A clock of ours that is behind: only an old signature is refused.
  verify(`t=${TIME},v1=${V1}`, { now: 0 })
})

for (const [name, header, options] of [
  ['missing', undefined],
  ['of another scheme', `t=${TIME},v0=${V1}`],
  ['without a time', `v1=${V1}`],
  ['of another time', `t=${TIME + 1},v1=${V1}`],
  ['cut off', `t=${TIME},v1=${V1.slice(2)}`],
  ['of a secret that was taken away', `t=${TIME},v1=${V1}`, { secrets: ['whsec_new'] }],
  ['too old', `t=${TIME},v1=${V1}`, { now: (TIME + 301) * 1_000 }],
] as const)
  test(`a signature that is ${name} is refused`, () => {
    assert.throws(() => verify(header, options), BadSignature)
  })

const payment = (now: number) => ({
  number: '0'.repeat(32),
  orderId: 'order-1',
  amountCents: 100,
  currency: 'CNY',
  returnUrl: 'https://shop.example.org/done',
  expiresAt: now + 60_000,
  now,
})

test('a 500 that Stripe repeats for its key is a refusal', async () => {
  await using w = await openPayWorld('stripe')
  const parameters = w.channel.parametersOf(payment(w.clock.now()))
  w.script('create', '500')
  for (const [code, outcome] of [
    ['api_error', 'unclear'],
    [REPLAYED, 'refused'],
  ])
    await assert.rejects(
      w.channel.create('0'.repeat(32), parameters),
      (error: unknown) => error instanceof ChannelError && error.outcome === outcome && error.code === code,
    )
})

test('a refund whose error is repeated is refused, unless Stripe has made it', async () => {
  await using w = await openPayWorld('stripe')
  const number = '0'.repeat(32)
  const { providerId } = await w.channel.create(number, w.channel.parametersOf(payment(w.clock.now())))
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  w.mock.book.act(booked, 'pay')
  const refund = {
    number: '1'.repeat(32),
    payment: { number, providerId, amountCents: booked.amountCents, currency: 'CNY' },
    amountCents: 100,
    reason: 'broken',
  }
  w.script('refund', '500')
  for (const outcome of ['unclear', 'refused'])
    await assert.rejects(
      w.channel.refund(refund),
      (error: unknown) => error instanceof ChannelError && error.outcome === outcome,
    )
  const marks = { platform_refund: refund.number }
  const made = {
    ...refund,
    id: 're_1',
    marks,
    parameters: '',
    callbackName: 'stripe',
    status: 'succeeded',
  } as const
  w.mock.book.addRefund(booked, made)
  assert.equal((await w.channel.refund(refund)).status, 'succeeded')
})

test('an event about something else, or without our mark, changes nothing', async () => {
  await using w = await openPayWorld('stripe')
  const now = w.clock.now()
  const callback = (event: object) => {
    const body = Buffer.from(JSON.stringify(event))
    const time = Math.floor(now / 1_000)
    const v1 = createHmac('sha256', String(w.settings.secrets['STRIPE_WEBHOOK_SECRET']))
      .update(`${time}.`)
      .update(body)
    return w.channel.verifyCallback({ 'stripe-signature': `t=${time},v1=${v1.digest('hex')}` }, body)
  }
  const session = { id: 'cs_1', payment_status: 'paid', status: 'complete', amount_total: 5, currency: 'cny' }
  const completed = 'checkout.session.completed'
  for (const [type, object] of [
    ['customer.created', {}],
    [completed, session],
    [completed, { ...session, metadata: { platform_payment: '../../etc' } }],
    [completed, { ...session, payment_status: 'unpaid', metadata: { platform_payment: '0'.repeat(32) } }],
    ['payment_intent.payment_failed', { metadata: { platform_payment: '0'.repeat(32) } }],
    ['refund.updated', { status: 'succeeded' }],
  ] as const)
    assert.deepEqual(callback({ id: 'evt_1', type, created: 1, data: { object } }), {
      eventId: 'evt_1',
      type: 'other',
    })
})

test('money that is under way may fail, and says so', async () => {
  await using w = await openPayWorld('stripe')
  const now = w.clock.now()
  const opened = await w.channel.create('0'.repeat(32), w.channel.parametersOf(payment(now)))
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  w.mock.book.act(booked, 'wait')
  w.mock.book.act(booked, 'fail')
  const said = (await w.callbacks()).map(({ headers, body }) => w.channel.verifyCallback(headers, body))
  const states = said.map((each) => (each.type === 'payment' ? each.state.status : each.type))
  assert.deepEqual(states.toSorted(), ['failed', 'other'])
  const reference = {
    number: '0'.repeat(32),
    providerId: opened.providerId,
    amountCents: 100,
    currency: 'CNY',
  }
  assert.equal((await w.channel.query(reference)).status, 'failed')
})

test('a session may end before its order only by our call; without an end of the order it lasts a day', async () => {
  await using w = await openPayWorld('stripe')
  const now = w.clock.now()
  const day = 24 * 3_600_000
  for (const [expiresAt, expected] of [
    [now + 60_000, now + 60_000],
    [now + day - 32 * 60_000, now + day - 32 * 60_000],
    [now + 2 * day, now + day],
    [undefined, now + day],
  ] as const) {
    const number = String(expiresAt)
      .padStart(32, '0')
      .replaceAll(/[^0-9]/g, 'a')
    const parameters = w.channel.parametersOf({ ...payment(now), number, expiresAt })
    assert.equal((await w.channel.create(number, parameters)).action.expiresAt, expected)
  }
})

test('an itemized report is read by the names of its columns', async () => {
  using directory = temporaryDirectory()
  const file = join(directory.path, 'report.csv')
  const [one, two] = ['a'.repeat(32), 'b'.repeat(32)]
  const lines = [
    'balance_transaction_id,reporting_category,description,customer_facing_amount,charge_id,payment_metadata[platform_payment],refund_metadata[platform_refund]',
    `txn_1,charge,"Order ""1"",\nof two lines",19.99,ch_1,${one},`,
    `txn_2,refund,,-0.07,ch_1,${one},${two}`,
    `txn_3,fee,,-1.00,,${one},`,
    'txn_4,charge,of another shop,5.00,ch_2,,',
  ]
  writeFileSync(file, lines.join('\n'))
  assert.deepEqual(await Array.fromAsync(reportRows(file, 'card')), [
    { type: 'payment', number: one, providerId: 'ch_1', status: 'succeeded', amountCents: 1_999 },
    { type: 'refund', number: two, providerId: undefined, status: 'succeeded', amountCents: 7 },
  ])
  writeFileSync(file, 'id,Amount\n1,2\n')
  await assert.rejects(Array.fromAsync(reportRows(file, 'card')), /expected the column reporting_category/)
})

test('a payer without a return address comes back to the page of the platform, below its own path', async () => {
  await using w = await openPayWorld('stripe')
  const settings = { ...w.settings, callbackUrl: 'https://example.org/api/payments/callbacks/card' }
  const channel = createStripe(settings, { clock: w.clock })
  const form = new URLSearchParams(channel.parametersOf({ ...payment(w.clock.now()), returnUrl: undefined }))
  assert.equal(form.get('success_url'), 'https://example.org/api/payments/done')
  await channel.end()
})

test('while its secret is rotated, a callback is of the old or the new one', async () => {
  await using w = await openPayWorld('stripe')
  const [old = ''] = [w.settings.secrets['STRIPE_WEBHOOK_SECRET']]
  w.mock.book.act(await made(w), 'pay')
  const [callback] = await w.callbacks()
  assert.ok(callback)
  for (const [secrets, isTaken] of [
    [`whsec_new, ${old}`, true],
    [`${old},whsec_new`, true],
    ['whsec_new', false],
  ] as const) {
    const settings = { ...w.settings, secrets: { ...w.settings.secrets, STRIPE_WEBHOOK_SECRET: secrets } }
    const channel = createStripe(settings, { clock: w.clock })
    const verifies = (): Callback => channel.verifyCallback(callback.headers, callback.body)
    if (isTaken) assert.equal(verifies().type, 'payment')
    else assert.throws(verifies, BadSignature)
    await channel.end()
  }
})

async function made(w: Awaited<ReturnType<typeof openPayWorld>>) {
  await w.channel.create('0'.repeat(32), w.channel.parametersOf(payment(w.clock.now())))
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  return booked
}
