import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openPayWorld, type PayWorld } from '../../test/support/mock-pay.ts'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { parseAssignments } from '../files/assignments.ts'
import type { MockPayment } from './book.ts'
import type { Channel } from './channels.ts'
import { openSecrets } from './secrets.ts'

const NUMBER = 'a'.repeat(32)

async function create(w: PayWorld, number = NUMBER, orderId = 'order-1'): Promise<MockPayment> {
  const now = w.clock.now()
  const returnUrl = 'https://shop.example.org/done'
  const payment = {
    number,
    orderId,
    amountCents: 1_999,
    currency: 'CNY',
    returnUrl,
    expiresAt: now + 60_000,
    now,
  }
  await w.channel.create(number, w.channel.parametersOf(payment))
  return w.mock.book.ofNumber(w.settings.kind, number) as MockPayment
}

const act = (w: PayWorld, { token }: MockPayment, action: string) =>
  fetch(`${w.url}/pay/${token}`, {
    method: 'POST',
    body: new URLSearchParams({ action }),
    redirect: 'manual',
  })

test('the log names the call that was refused', async () => {
  await using w = await openPayWorld('wechatpay', { MOCK_PAY_LOG: '1' })
  await w.channel.query({ number: NUMBER, providerId: undefined, amountCents: 1, currency: 'CNY' })
  const [line = ''] = w.log
  assert.partialDeepStrictEqual(JSON.parse(line), { endpoint: 'wechatpay_query', error: 'ORDER_NOT_EXIST' })
})

test('a person pays, lets it fail or waits on the page of a payment', async () => {
  await using w = await openPayWorld('stripe')
  const payment = await create(w, NUMBER, '<b>"1"</b>')
  const page = await fetch(`${w.url}/pay/${payment.token}`)
  const html = await page.text()
  assert.match(html, /19\.99 CNY/)
  assert.match(html, /Order &lt;b&gt;&quot;1&quot;/)
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.equal((await act(w, payment, 'fail')).headers.get('location'), `/pay/${payment.token}`)
  assert.equal(payment.status, 'open')
  assert.equal((await act(w, payment, 'wait')).headers.get('location'), 'https://shop.example.org/done')
  assert.equal(payment.status, 'processing')
  assert.equal((await act(w, payment, 'pay')).status, 303)
  assert.equal(payment.status, 'paid')
  await act(w, payment, 'fail')
  assert.equal(payment.status, 'paid')
  assert.equal((await act(w, payment, 'steal')).status, 400)
  assert.doesNotMatch(await (await fetch(`${w.url}/pay/${payment.token}`)).text(), /<button/)
  assert.match(await (await fetch(w.url)).text(), new RegExp(`/pay/${payment.token}`))
  assert.equal((await fetch(`${w.url}/pay/none`)).status, 404)
})

test('a page leads to no address that is no web page', async () => {
  await using w = await openPayWorld('stripe')
  const now = w.clock.now()
  const returnUrl = 'javascript:alert(1)'
  const payment = {
    number: NUMBER,
    orderId: '1',
    amountCents: 100,
    currency: 'CNY',
    returnUrl,
    expiresAt: now,
    now,
  }
  await assert.rejects(w.channel.create(NUMBER, w.channel.parametersOf(payment)), /url_invalid/)
})

for (const channel of ['stripe', 'wechatpay', 'alipay'] as const)
  test(`${channel}: early, late, lost and out of order`, async () => {
    await using w = await openPayWorld(channel)
    const saidOf = () =>
      w.received.map(({ headers, body }) => {
        const said = w.channel.verifyCallback(headers, body)
        return said.type === 'payment' ? said.number : said.type
      })
    w.script('create', 'early')
    const early = await create(w)
    assert.deepEqual([early.status, saidOf()], ['paid', [NUMBER]])

    const late = await create(w, 'b'.repeat(32))
    late.isScanned = true
    w.script('close', 'late')
    const reference = { number: late.number, providerId: late.id, amountCents: 1_999, currency: 'CNY' }
    assert.equal((await w.channel.close(reference)).status, 'closed')
    assert.equal((await w.channel.query(reference)).status, 'paid')
    await w.callbacks()
    assert.equal(saidOf().at(-1), late.number)

    w.received.splice(0)
    w.script('callback', 'lost')
    w.mock.book.pay(await create(w, 'c'.repeat(32)))
    assert.deepEqual(await w.callbacks(), [])
    w.script('callback', 'out_of_order')
    w.mock.book.pay(await create(w, 'd'.repeat(32)))
    w.mock.book.pay(await create(w, 'e'.repeat(32)))
    await w.callbacks()
    assert.deepEqual(saidOf(), ['e'.repeat(32), 'd'.repeat(32)])
  })

test('a slow answer has its head first, and a delayed one comes whole', async () => {
  await using w = await openPayWorld('stripe')
  for (const kind of ['slow', 'delay'] as const) {
    w.script('create', kind)
    const payment = await create(w, (kind === 'slow' ? '1' : '2').repeat(32))
    assert.equal(payment.status, 'open')
  }
})

/** Requests with another key than the one of the merchant. */
const STRANGERS: Readonly<Record<Channel, [path: string, init: RequestInit, status: number]>> = {
  stripe: ['/v1/checkout/sessions', { method: 'POST', headers: { authorization: 'Bearer sk_test_x' } }, 401],
  wechatpay: ['/v3/pay/transactions/native', { method: 'POST', body: '{}' }, 401],
  alipay: ['/gateway.do', { method: 'POST', body: 'method=alipay.trade.query&sign=x' }, 200],
}

for (const [channel, [path, init, status]] of Object.entries(STRANGERS))
  test(`${channel}: a request without the key of the merchant is refused`, async () => {
    await using w = await openPayWorld(channel as Channel)
    const answer = await fetch(w.url + path, init)
    assert.equal(answer.status, status)
    if (channel === 'alipay') assert.match(await answer.text(), /isv\.invalid-signature/)
  })

test('other paths are 404, a large body is 413, and no bytes end the server', async () => {
  await using w = await openPayWorld('stripe')
  assert.equal((await fetch(`${w.url}/v9/x`)).status, 404)
  assert.equal((await fetch(`${w.url}/v1/refunds`, { method: 'POST', body: 'x'.repeat(70_000) })).status, 413)
  for (const request of [
    'GET // HTTP/1.1',
    'GET http://[ HTTP/1.1',
    'POST /gateway.do HTTP/1.1',
    'GET /%ff%00 HTTP/1.1',
  ]) {
    const socket = connect(w.mock.port, '127.0.0.1')
    socket.end(`${request}\r\nHost: x\r\nConnection: close\r\n\r\n`)
    assert.match(await text(socket), /^HTTP\/1\.1 [24]/, request)
  }
})

test('secrets are made once, are private, and are those of both sides', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'secrets')
  const secrets = openSecrets(path)
  assert.deepEqual(openSecrets(path).stripe, secrets.stripe)
  assert.ok(openSecrets(path).wechatpay.providerKey.equals(secrets.wechatpay.providerKey))
  for (const name of [
    'pay-stripe.env',
    'pay-wechatpay.env',
    'pay-alipay.env',
    'pay-alipay-merchant-private.pem',
  ])
    assert.equal(statSync(join(path, name)).mode & 0o777, 0o600, name)
  assert.notEqual(secrets.stripe.secretKey, 'sk_test_mock_docvalue_0001')
  assert.equal(parseAssignments(`A=${secrets.wechatpay.apiV3Key}`).get('A')?.length, 32)
})
