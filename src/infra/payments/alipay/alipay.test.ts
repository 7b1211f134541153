import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { describePaymentChannelContract } from '../../../../test/contract/payment-channel.ts'
import { openPayWorld } from '../../../../test/support/mock-pay.ts'
import { encodeGbk } from '../../../../programs/mock-pay/gbk.ts'
import { TEST_PRIVATE_KEY } from '../../../../programs/mock-pay/test-key.ts'
import { zip } from '../../../../programs/mock-pay/zip.ts'
import { temporaryDirectory } from '../../../../test/support/platform.ts'
import { BadSignature, ChannelError } from '../../../ports/payments.ts'
import { signedText } from './api.ts'
import { rowsOfZipOrDetail } from './bill.ts'

describePaymentChannelContract('alipay', () => openPayWorld('alipay'), {
  isKnownBeforeScan: false,
  signsTime: false,
  mayRefundFailLater: false,
  action: 'qr_code',
})

const [ONE, TWO] = ['a'.repeat(32), 'b'.repeat(32)] as const

test('the signed text has all fields by name, also empty ones', () => {
  assert.equal(signedText({ b: '2', a: '', c: 'x=y&z' }), 'a=&b=2&c=x=y&z')
})

function callbackOf(
  fields: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Buffer {
  const signature = sign('sha256', Buffer.from(signedText(fields)), TEST_PRIVATE_KEY).toString('base64')
  return Buffer.from(new URLSearchParams({ ...fields, ...more, sign: signature }).toString())
}

const PAID = {
  app_id: '2026000000000001',
  seller_id: '2088000000000001',
  notify_id: 'n1',
  out_trade_no: ONE,
  trade_no: '2026013122001',
  trade_status: 'TRADE_SUCCESS',
  total_amount: '0.07',
  gmt_payment: '2026-01-31 10:00:00',
  body: 'order=1',
  empty: '',
}

test('a callback is verified with and without its sign_type, and only as RSA2', async () => {
  await using w = await openPayWorld('alipay')
  const verify = (body: Buffer) => w.channel.verifyCallback({}, body)
  const said = verify(callbackOf(PAID, { sign_type: 'RSA2' }))
  assert.ok(said.type === 'payment')
  assert.deepEqual([said.number, said.orderId, said.state.amountCents], [ONE, '1', 7])
  assert.equal(said.state.paidAt, Date.UTC(2026, 0, 31, 2))
  assert.equal(verify(callbackOf({ ...PAID, sign_type: 'RSA2' })).type, 'payment')
  assert.throws(() => verify(callbackOf(PAID, { sign_type: 'RSA' })), BadSignature)
  assert.throws(() => verify(callbackOf(PAID)), BadSignature)
  const twice = Buffer.concat([callbackOf(PAID, { sign_type: 'RSA2' }), Buffer.from('&total_amount=1.00')])
  assert.throws(() => verify(twice), BadSignature)
})

test('a callback of another merchant, of no money, or without our mark changes nothing', async () => {
  await using w = await openPayWorld('alipay')
  const { body: _, ...unmarked } = PAID
  for (const fields of [
    { ...PAID, app_id: '2026' },
    { ...PAID, seller_id: '2088' },
    { ...PAID, out_trade_no: 'shop-1' },
    { ...PAID, trade_status: 'WAIT_BUYER_PAY' },
    unmarked,
  ]) {
    const said = w.channel.verifyCallback({}, callbackOf(fields, { sign_type: 'RSA2' }))
    assert.deepEqual(said, { eventId: 'n1', type: 'other' })
  }
})

test('a trade is closed when its time is over, and still paid when all of it was refunded', async () => {
  await using w = await openPayWorld('alipay')
  const { gmt_payment: _, ...unpaid } = PAID
  const stateOf = (fields: Readonly<Record<string, string>>) => {
    const said = w.channel.verifyCallback(
      {},
      callbackOf({ ...fields, trade_status: 'TRADE_CLOSED' }, { sign_type: 'RSA2' }),
    )
    return said.type === 'other' ? said.type : said.state.status
  }
  assert.deepEqual([stateOf(unpaid), stateOf(PAID)], ['closed', 'paid'])
  const refunded = { ...PAID, refund_fee: '0.07', gmt_refund: '2026-01-31 11:00:00', out_biz_no: TWO }
  assert.equal(stateOf(refunded), 'succeeded')
})

test('the code that nobody has scanned is closed here, and can still be paid', async () => {
  await using w = await openPayWorld('alipay')
  const now = w.clock.now()
  const payment = {
    number: ONE,
    orderId: '1',
    amountCents: 7,
    currency: 'CNY',
    returnUrl: undefined,
    expiresAt: undefined,
    now,
  }
  const { action } = await w.channel.create(ONE, w.channel.parametersOf(payment))
  assert.equal(action.expiresAt, now + 2 * 3_600_000)
  const reference = { ...payment, providerId: undefined }
  const { status, reason } = await w.channel.close(reference)
  assert.deepEqual([status, reason], ['closed', 'ACQ.TRADE_NOT_EXIST'])
  const [booked] = w.mock.book.payments()
  assert.ok(booked)
  w.mock.book.act(booked, 'pay')
  assert.equal((await w.channel.query(reference)).status, 'paid')
})

const DETAIL = [
  '#支付宝业务明细查询',
  '支付宝交易号,商户订单号,业务类型,商品名称,订单金额（元）,退款批次号/请求号',
  `2026013122001\t,${ONE}\t,交易\t,Order 1\t,19.99\t,\t`,
  `2026013122001\t,${ONE}\t,退款\t,Order 1\t,-0.07\t,${TWO}\t`,
  '2026013122002\t,shop-2\t,交易\t,tea, two cups\t,5.00\t,\t',
  '#-----业务明细列表结束-----',
]
const textOf = (lines: readonly string[]) => encodeGbk(lines.map((line) => `${line}\r\n`).join(''))
const billOf = (detail: Buffer) =>
  zip([
    { name: encodeGbk('2088_20260131_业务明细(汇总).csv'), content: encodeGbk('#汇总\r\n') },
    { name: encodeGbk('2088_20260131_业务明细.csv'), content: detail },
  ])

async function readBill(bytes: Buffer) {
  using directory = temporaryDirectory()
  const file = join(directory.path, 'bill')
  writeFileSync(file, bytes)
  return await Array.fromAsync(rowsOfZipOrDetail(file, 'ali'))
}

const EXPECTED = [
  { type: 'payment', number: ONE, providerId: '2026013122001', status: 'succeeded', amountCents: 1_999 },
  { type: 'refund', number: TWO, providerId: '2026013122001', status: 'succeeded', amountCents: 7 },
]

test('a bill is read from the detail file of its zip, or from that file alone', async () => {
  assert.deepEqual(await readBill(billOf(textOf(DETAIL))), EXPECTED)
  assert.deepEqual(await readBill(textOf(DETAIL)), EXPECTED)
})

test('a bill that is damaged or cut off ends with an error', async () => {
  const isDamaged = (error: unknown) => error instanceof ChannelError && error.code === 'damaged_bill'
  const whole = billOf(textOf(DETAIL))
  await assert.rejects(readBill(whole.subarray(0, -30)), isDamaged)
  await assert.rejects(readBill(billOf(textOf(DETAIL.slice(0, -1)))), isDamaged)
  await assert.rejects(readBill(billOf(textOf(['#', 'a,b']))), isDamaged)
  await assert.rejects(readBill(billOf(textOf(DETAIL.map((line) => line.replace('19.99', '¥19.99'))))), {
    code: 'damaged_bill',
    message: /row 1 has no amount in the column 订单金额（元）;/,
  })
  await assert.rejects(
    readBill(zip([{ name: Buffer.from('other.csv'), content: textOf(DETAIL) }])),
    isDamaged,
  )
  // The checksum in the directory is of another content.
  const crc = Buffer.from(whole)
  const entry = crc.lastIndexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  crc[entry + 16] = (crc[entry + 16] ?? 0) ^ 1
  await assert.rejects(readBill(crc), isDamaged)
})

test('whatever the bytes of a zip are, the only errors are those of a bill', async () => {
  const whole = billOf(textOf(DETAIL))
  for (let at = 0; at < whole.length; at += 13) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0xff
    await readBill(changed).catch((error: unknown) => assert.ok(error instanceof ChannelError, String(error)))
  }
})
