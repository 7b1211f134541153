import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { paymentRoutes } from '../../../src/domains/payments/routes.ts'
import { WANTED } from '../../support/orders.ts'
import { paymentWorld } from '../../support/payments.ts'
import { startRouteServer } from '../../support/route-server.ts'

const w = await paymentWorld('sqlite')
const server = await startRouteServer({ ...w, routes: paymentRoutes(w.payments) })
after(async () => {
  await server[Symbol.asyncDispose]()
  await w[Symbol.asyncDispose]()
})

interface PaymentBody {
  readonly id: string
  readonly status: string
  readonly number: string
  readonly action?: { readonly type: string; readonly expires_at: string } | null
}

const SIGNED = { 'x-signature': 'good', 'content-type': 'application/x-www-form-urlencoded' }
const take = async (orderId: string, key: string) => {
  const headers = { 'idempotency-key': key }
  return server.send('POST', `/orders/${orderId}/payments`, { body: { channel: 'memory' }, headers })
}
const newOrder = (orderId: string) => w.write((tx) => w.orders.create(tx, { ...WANTED, orderId }, 'shop'))

test('a payment is answered with its action, also to a repetition, which makes no other one', async () => {
  await newOrder('o-1')
  const first = await take('o-1', 'a')
  const payment = (await first.json()) as PaymentBody
  assert.deepEqual([first.status, payment.status, payment.action?.type], [201, 'open', 'redirect'])
  // The order ends earlier than the link.
  assert.equal(Date.parse(payment.action?.expires_at ?? ''), (await w.orders.get('o-1')).expiresAt)
  const repeated = await take('o-1', 'a')
  assert.equal(repeated.headers.get('idempotent-replay'), 'true')
  assert.deepEqual([repeated.status, await repeated.json()], [201, payment])
  const other = await take('o-1', 'b')
  assert.deepEqual([other.status, await other.json()], [200, payment])
  assert.equal(w.channel.payments.size, 1)
})

test('an unclear payment is 202, and a request for it asks again', async () => {
  await newOrder('o-2')
  w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: true })
  const unclear = await take('o-2', 'c')
  assert.deepEqual([unclear.status, ((await unclear.json()) as PaymentBody).status], [202, 'creating'])
  assert.equal((await take('o-2', 'd')).status, 200)
})

test('a callback is read as bytes of any media type, and answered in the language of the provider', async () => {
  await newOrder('o-3')
  const { number } = (await (await take('o-3', 'e')).json()) as PaymentBody
  const body = w.channel.pay(number)
  const post = (headers: Record<string, string>, sent: unknown = body) =>
    server.send('POST', '/payments/callbacks/memory', { body: sent, headers })
  const refused = await post({ ...SIGNED, 'x-signature': 'bad' })
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { code: string }).code],
    [401, 'bad_signature'],
  )
  assert.equal((await post(SIGNED, 'x'.repeat(65_536))).status, 413)
  assert.equal((await server.send('POST', '/payments/callbacks/none', { body })).status, 404)
  assert.equal((await w.orders.get('o-3')).status, 'pending')
  const answer = await post(SIGNED)
  assert.deepEqual(
    [answer.status, answer.headers.get('content-type'), await answer.text()],
    [200, 'text/plain', 'success'],
  )
  assert.equal((await w.orders.get('o-3')).status, 'paid')
})

test('the page after a payment is for any browser, runs nothing, and takes no notice of what a provider adds', async () => {
  const answer = await server.send('GET', '/payments/done?session_id=cs_1')
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.match(await answer.text(), /close this page[\s\S]*lang="zh"/)
})

test('a callback without a body is refused by its signature', async () => {
  assert.equal((await server.send('POST', '/payments/callbacks/memory')).status, 401)
})

test('a payment is closed at the provider, and its answer is the closed payment', async () => {
  await newOrder('o-4')
  const { id, number } = (await (await take('o-4', 'f')).json()) as PaymentBody
  const closed = await server.send('POST', `/payments/${id}/close`)
  assert.deepEqual([closed.status, ((await closed.json()) as PaymentBody).status], [200, 'closed'])
  assert.equal(w.channel.payments.get(number)?.status, 'closed')
})

test('a payment and its alert say what was taken, where that is another amount than its order has', async () => {
  await newOrder('o-6')
  const { id, number } = (await (await take('o-6', 'h')).json()) as PaymentBody
  await w.receive(w.channel.pay(number, 4_991))
  const payment = await (await server.send('GET', `/payments/${id}`)).json()
  assert.partialDeepStrictEqual(payment, {
    amount_cents: 4_990,
    paid_cents: 4_991,
    attention: 'amount_mismatch',
  })
  assert.match(w.alertBodies.at(-1) ?? '', /was paid with 49\.91 instead of 49\.90 CNY/)
})

test('a refund with an Idempotency-Key is made once', async () => {
  await newOrder('o-5')
  const { id, number } = (await (await take('o-5', 'g')).json()) as PaymentBody
  await w.receive(w.channel.pay(number))
  const refund = () =>
    server.send('POST', `/payments/${id}/refunds`, {
      body: { amount_cents: 100, reason: 'broken' },
      headers: { 'idempotency-key': 'r' },
    })
  const [first, second] = [await refund(), await refund()]
  assert.deepEqual([first.status, await first.json()], [202, await second.json()])
})
