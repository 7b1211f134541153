import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'
import { formatCents } from '../../../kernel/text.ts'
import {
  BadSignature,
  type Callback,
  type NewPayment,
  type NewRefund,
  type OpenedPayment,
  type PaymentChannel,
  type PaymentReference,
  type ProviderPayment,
  type ProviderRefund,
  type ChannelSettings,
} from '../../../ports/payments.ts'
import { formatBeijingTime, parseBeijingTime, AlipayApi } from './api.ts'
import { parseCents } from '../bills.ts'
import {
  parseMembers,
  textOf,
  type Members,
  cutToBytes,
  markOf,
  orderOfMark,
  toNumber,
  NO_PAYMENT,
  NO_REFUND,
} from '../fields.ts'
import { isRefusal, unusableAnswer, secretOf, type ChannelDeps } from '../provider-connection.ts'
import { readBill, rowsOfZipOrDetail } from './bill.ts'

const DEFAULT_API_URL = 'https://openapi.alipay.com/gateway.do'
const UNKNOWN_TRADE = 'ACQ.TRADE_NOT_EXIST'

/** Alipay, with a code that is precreated for each payment. https://opendocs.alipay.com/open/02ekfg */
export function createAlipay(settings: ChannelSettings, deps: ChannelDeps): PaymentChannel {
  const api = new AlipayApi({ ...settings, apiUrl: settings.apiUrl || DEFAULT_API_URL }, deps)
  const { name } = settings
  const account = {
    appId: secretOf(settings, 'ALIPAY_APP_ID'),
    sellerId: secretOf(settings, 'ALIPAY_SELLER_ID'),
  }
  const query = (payment: PaymentReference) => queryPayment(api, payment)
  return {
    name,
    kind: 'alipay',
    isKnownByNumber: true,
    amountRefusal,
    parametersOf,
    create: async (_, parameters) =>
      toOpened(name, await api.call('alipay.trade.precreate', parameters), parameters),
    query,
    close: async (payment) => {
      try {
        await api.call('alipay.trade.close', JSON.stringify({ out_trade_no: payment.number }))
        return { ...NO_PAYMENT, status: 'closed' }
      } catch (error) {
        if (!isRefusal(error)) throw error
        // Nobody has scanned the code. It can still be paid until it is dead.
        if (error.code === UNKNOWN_TRADE) return { ...NO_PAYMENT, status: 'closed', reason: UNKNOWN_TRADE }
        return query(payment)
      }
    },
    refund: (refund) => refundPayment(api, refund),
    queryRefund: (refund) => queryRefund(api, refund.payment.number, refund.number),
    verifyCallback: (_, body) => {
      const fields = parseForm(body)
      api.verifyFields(fields)
      return toCallback(fields, account)
    },
    acknowledgement: { status: 200, contentType: 'text/plain; charset=utf-8', body: 'success' },
    bill: (date) => readBill(api, date),
    billOf: (file) => rowsOfZipOrDetail(file, name),
    end: () => api.end(),
  }
}

// 0.01 to 100,000,000.00
const MAXIMUM_CENTS = 10_000_000_000

function amountRefusal(cents: number): string | undefined {
  return cents >= 1 && cents <= MAXIMUM_CENTS ? undefined : 'Alipay takes 0.01 to 100,000,000.00'
}

// The code can be paid for two hours.
const LONGEST_MS = 2 * HOUR
const SHORTEST_MS = 2 * MINUTE

function parametersOf({ number, orderId, amountCents, expiresAt = Infinity, now }: NewPayment): string {
  const until = Math.max(now + SHORTEST_MS, Math.min(now + LONGEST_MS, expiresAt))
  return JSON.stringify({
    out_trade_no: number,
    total_amount: formatCents(amountCents),
    // Alipay refuses some marks in it.
    subject: cutToBytes(`Order ${orderId.replaceAll(/[/=&]/g, ' ')}`, 250),
    body: cutToBytes(markOf(orderId), 128),
    time_expire: formatBeijingTime(Math.ceil(until / SECOND) * SECOND),
  })
}

function toOpened(name: string, answer: Members, parameters: string): OpenedPayment {
  const url = textOf(answer['qr_code'])
  const expiresAt = parseBeijingTime(parseMembers(parameters)['time_expire'])
  if (url === undefined || expiresAt === undefined) throw unusableAnswer(name, 'qr_code')
  return { providerId: undefined, action: { type: 'qr_code', url, expiresAt } }
}

async function queryPayment(api: AlipayApi, { number }: PaymentReference): Promise<ProviderPayment> {
  const trade = await api.find('alipay.trade.query', JSON.stringify({ out_trade_no: number }), UNKNOWN_TRADE)
  return trade ? toPayment(trade, trade['send_pay_date']) : NO_PAYMENT
}

/** `TRADE_CLOSED` is also a trade that was paid and refunded as a whole: then it has a time of payment. */
function toPayment(trade: Members, paidTime: unknown): ProviderPayment {
  const status = statusOf(trade['trade_status'], paidTime)
  const isPaid = status === 'paid'
  return {
    status,
    providerId: textOf(trade['trade_no']),
    amountCents: isPaid ? parseCents(textOf(trade['total_amount']) ?? '') : undefined,
    currency: isPaid ? 'CNY' : undefined,
    paidAt: isPaid ? parseBeijingTime(paidTime) : undefined,
    reason: undefined,
  }
}

function statusOf(state: unknown, paidTime: unknown): ProviderPayment['status'] {
  if (state === 'TRADE_SUCCESS' || state === 'TRADE_FINISHED') return 'paid'
  if (state === 'TRADE_CLOSED') return textOf(paidTime) === undefined ? 'closed' : 'paid'
  return 'open'
}

/** `fund_change` N: nothing moved with this call, because it did with an earlier one, or because it has not yet. */
async function refundPayment(api: AlipayApi, refund: NewRefund): Promise<ProviderRefund> {
  const { number, payment, amountCents, reason } = refund
  const parameters = {
    out_trade_no: payment.number,
    refund_amount: formatCents(amountCents),
    out_request_no: number,
    refund_reason: cutToBytes(reason, 256) || undefined,
  }
  const answer = await api.call('alipay.trade.refund', JSON.stringify(parameters))
  if (answer['fund_change'] === 'Y') return { ...NO_REFUND, status: 'succeeded' }
  const found = await queryRefund(api, payment.number, number)
  return found.status === 'unknown' ? { ...NO_REFUND, status: 'pending' } : found
}

async function queryRefund(api: AlipayApi, payment: string, number: string): Promise<ProviderRefund> {
  const parameters = JSON.stringify({ out_trade_no: payment, out_request_no: number })
  const refund = await api.find('alipay.trade.fastpay.refund.query', parameters, UNKNOWN_TRADE)
  return refund?.['refund_status'] === 'REFUND_SUCCESS' ? { ...NO_REFUND, status: 'succeeded' } : NO_REFUND
}

function parseForm(body: Buffer): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(body.toString('utf8'))]
  // One of two values could be signed and the other one used.
  if (new Set(fields.map(([name]) => name)).size < fields.length)
    throw new BadSignature('a field of the callback is there twice')
  return Object.fromEntries(fields)
}

function toCallback(
  fields: Readonly<Record<string, string>>,
  { appId, sellerId }: { readonly appId: string; readonly sellerId: string },
): Callback {
  const eventId = fields['notify_id'] ?? ''
  const other: Callback = { eventId, type: 'other' }
  if (fields['app_id'] !== appId || fields['seller_id'] !== sellerId) return other
  if (textOf(fields['refund_fee']) !== undefined && textOf(fields['gmt_refund']) !== undefined) {
    const refund = toNumber(fields['out_biz_no'])
    return refund === undefined
      ? other
      : { eventId, type: 'refund', number: refund, state: { ...NO_REFUND, status: 'succeeded' } }
  }
  const [number, orderId] = [toNumber(fields['out_trade_no']), orderOfMark(fields['body'])]
  const state = toPayment(fields, fields['gmt_payment'])
  if (number === undefined || orderId === undefined || state.status === 'open') return other
  return { eventId, type: 'payment', number, orderId, state }
}
