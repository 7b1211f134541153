import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { test } from 'node:test'
import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'
import { BadSignature, ChannelError } from '../../../ports/payments.ts'
import { cutToBytes } from '../fields.ts'
import { rowsOfPackedBill } from './bill.ts'
import { decryptResource } from './api.ts'
import { createWechatPay } from './index.ts'

describePaymentChannelContract('wechatpay', () => openPayWorld('wechatpay'), {
  isKnownBeforeScan: true,
  signsTime: true,
  mayRefundFailLater: true,
  action: 'qr_code',
})

const KEY = '0123456789abcdef0123456789abcdef'
const RESOURCE = {
  algorithm: 'AEAD_AES_256_GCM',
  ciphertext: 'ShQHJjjzsBp1G1BvqPzCIktRxobcO8VG3rCe2rFPFJmPeL731WY+Xp8=',
  associated_data: 'transaction',
  nonce: 'nonce1234567',
}

test('the documented resource is decrypted', () => {
  assert.equal(decryptResource(RESOURCE, KEY), '{"trade_state":"SUCCESS"}')
})

test('a resource with another key, text, tag or algorithm is refused', () => {
  for (const [resource, key] of [
    [RESOURCE, KEY.replace('0', '1')],
    [RESOURCE, 'short'],
    [{ ...RESOURCE, associated_data: 'refund' }, KEY],
    [{ ...RESOURCE, nonce: 'nonce1234568' }, KEY],
    [{ ...RESOURCE, ciphertext: 'AAAA' }, KEY],
    [{ ...RESOURCE, algorithm: 'NONE' }, KEY],
    [{}, KEY],
  ] as const)
    assert.throws(() => decryptResource(resource, key), BadSignature)
})

test('the probes of WeChat Pay fail as any forged callback does', async () => {
  await using w = await openPayWorld('wechatpay')
  const number = '0'.repeat(32)
  const now = w.clock.now()
  const payment = {
    number,
    orderId: 'o',
    amountCents: 1,
    currency: 'CNY',
    returnUrl: undefined,
    expiresAt: undefined,
    now,
  }
  await w.channel.create(number, w.channel.parametersOf(payment))
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  w.mock.book.act(booked, 'pay')
  const [callback] = await w.callbacks()
  assert.ok(callback)
  const { headers, body } = callback
  assert.equal(w.channel.verifyCallback(headers, body).type, 'payment')
  const probe = { ...headers, 'wechatpay-signature': 'WECHATPAY/SIGNTEST/abc' }
  assert.throws(() => w.channel.verifyCallback(probe, body), BadSignature)
  const serial = { ...headers, 'wechatpay-serial': 'ANOTHER' }
  assert.throws(() => w.channel.verifyCallback(serial, body), BadSignature)
  assert.throws(
    () => w.channel.verifyCallback({ ...headers, 'wechatpay-timestamp': 'soon' }, body),
    BadSignature,
  )
})

test('a callback of another merchant or another app changes nothing', async () => {
  await using w = await openPayWorld('wechatpay')
  const number = 'a'.repeat(32)
  const now = w.clock.now()
  const order = { number, orderId: 'o-1', amountCents: 100, currency: 'CNY', returnUrl: undefined }
  await w.channel.create(number, w.channel.parametersOf({ ...order, expiresAt: undefined, now }))
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  w.mock.book.act(booked, 'pay')
  const [callback] = await w.callbacks()
  assert.ok(callback)
  for (const variable of ['WECHATPAY_MCHID', 'WECHATPAY_APPID']) {
    const secrets = { ...w.settings.secrets, [variable]: '2088' }
    const other = createWechatPay({ ...w.settings, secrets }, { clock: w.clock })
    assert.equal(other.verifyCallback(callback.headers, callback.body).type, 'other', variable)
    await other.end()
  }
})

const HEADER =
  '\uFEFF交易时间,微信订单号,商户订单号,交易状态,微信退款单号,商户退款单号,退款状态,商品名称,订单金额,申请退款金额'
const [ONE, TWO] = ['a'.repeat(32), 'b'.repeat(32)] as const
const ROWS = [
  `\`2026-01-31 10:00:00,\`4200001,\`${ONE},\`SUCCESS,\`0,\`0,\`,\`Order 1,\`19.99,\`0.00`,
  `\`2026-01-31 11:00:00,\`4200001,\`${ONE},\`REFUND,\`5030001,\`${TWO},\`PROCESSING,\`Order 1,\`0.00,\`0.07`,
  '`2026-01-31 12:00:00,`4200002,`shop-of-another-2,`SUCCESS,`0,`0,`,`tea, two cups,`5.00,`0.00',
]
const totals = (count: number) => ['总交易单数,订单总金额,申请退款总金额', `\`${count},\`24.99,\`0.07`]
const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\r\n`).join(''))

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const sha1Of = (lines: readonly string[]) => createHash('sha1').update(bytesOf(lines)).digest('hex')

const read = (lines: readonly string[], { sha1 = sha1Of(lines), size = 4_096 } = {}) =>
  Array.fromAsync(rowsOfPackedBill(inPieces(gzipSync(bytesOf(lines)), size), 'wechat', sha1))

test('a trade bill is read by the names of its columns, however it is cut into pieces', async () => {
  const lines = [HEADER, ...ROWS, ...totals(3)]
  for (const size of [1, 7, 4_096])
    assert.deepEqual(await read(lines, { size }), [
      { type: 'payment', number: ONE, providerId: '4200001', status: 'succeeded', amountCents: 1_999 },
      { type: 'refund', number: TWO, providerId: '5030001', status: 'pending', amountCents: 7 },
    ])
})

test('a trade bill that is damaged or cut off ends with an error', async () => {
  const isDamaged = (error: unknown) => error instanceof ChannelError && error.code === 'damaged_bill'
  await assert.rejects(read([HEADER, ...ROWS, ...totals(3)], { sha1: '0'.repeat(40) }), isDamaged)
  await assert.rejects(read([HEADER, ...ROWS, ...totals(4)]), isDamaged)
  await assert.rejects(read([HEADER, ...ROWS]), isDamaged)
  await assert.rejects(read(['a,b', ...ROWS, ...totals(3)]), isDamaged)
  for (const amount of ['1,999.00', '+19.99', '19.99 ', '', '¥19.99'])
    await assert.rejects(read([HEADER, ...ROWS.slice(1), (ROWS[0] ?? '').replace('19.99', amount)]), {
      code: 'damaged_bill',
      message: /row 3 has no amount in the column 订单金额;/,
    })
  const whole = [HEADER, ...ROWS, ...totals(3)]
  const cut = gzipSync(bytesOf(whole)).subarray(0, -20)
  await assert.rejects(
    Array.fromAsync(rowsOfPackedBill(inPieces(cut, 64), 'wechat', sha1Of(whole))),
    isDamaged,
  )
})

test('a text is cut between characters', () => {
  assert.deepEqual(
    [
      cutToBytes('abc', 3),
      cutToBytes('abcd', 3),
      cutToBytes('订单', 5),
      cutToBytes('a😀', 4),
      cutToBytes('订', 0),
    ],
    ['abc', 'abc', '订', 'a', ''],
  )
})
