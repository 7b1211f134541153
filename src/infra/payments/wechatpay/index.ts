import { HOUR, MINUTE, parseRfc3339 } from '../../../kernel/time.ts'
import type {
  Callback,
  NewPayment,
  NewRefund,
  OpenedPayment,
  PaymentChannel,
  ProviderPayment,
  ProviderRefund,
  ChannelSettings,
} from '../../../ports/payments.ts'
import {
  codeOf,
  integerOf,
  objectMembers,
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
import { WechatPayApi, decryptResource } from './api.ts'
import { readTradeBill, rowsOfTradeBill } from './bill.ts'

const DEFAULT_API_URL = 'https://api.mch.weixin.qq.com'
const ORDERS = '/v3/pay/transactions/out-trade-no'
const REFUNDS = '/v3/refund/domestic/refunds'

/** WeChat Pay v3, with a Native order for each payment. https://pay.weixin.qq.com/doc/v3/merchant/4012791874 */
export function createWechatPay(settings: ChannelSettings, deps: ChannelDeps): PaymentChannel {
  const api = new WechatPayApi({ ...settings, apiUrl: settings.apiUrl || DEFAULT_API_URL }, deps)
  const { name } = settings
  const mchid = secretOf(settings, 'WECHATPAY_MCHID')
  const appid = secretOf(settings, 'WECHATPAY_APPID')
  const key = secretOf(settings, 'WECHATPAY_APIV3_KEY')
  const query = async ({ number }: { readonly number: string }): Promise<ProviderPayment> => {
    const order = await api.find(`${ORDERS}/${number}?mchid=${encodeURIComponent(mchid)}`)
    return order ? toPayment(order) : NO_PAYMENT
  }
  return {
    name,
    kind: 'wechatpay',
    isKnownByNumber: true,
    amountRefusal: (cents) => (cents < 1 ? 'WeChat Pay takes at least 1 cent' : undefined),
    parametersOf: (payment) => parametersOf(settings, { mchid, appid }, payment),
    create: async (_, parameters) =>
      toOpened(name, await api.post('/v3/pay/transactions/native', parameters), parameters),
    query,
    close: async (payment) => {
      try {
        await api.post(`${ORDERS}/${payment.number}/close`, JSON.stringify({ mchid }))
        return { ...NO_PAYMENT, status: 'closed' }
      } catch (error) {
        // The payment is paid, closed or unknown: a query says which.
        if (isRefusal(error)) return query(payment)
        throw error
      }
    },
    refund: async (refund) => toRefund(await api.post(REFUNDS, refundParameters(settings, refund))),
    queryRefund: async ({ number }) => {
      const refund = await api.find(`${REFUNDS}/${number}`)
      return refund ? toRefund(refund) : NO_REFUND
    },
    verifyCallback: (headers, body) => {
      api.verify(headers, body)
      return toCallback(parseMembers(body.toString('utf8')), { key, mchid, appid })
    },
    acknowledgement: { status: 204, contentType: undefined, body: '' },
    bill: (date) => readTradeBill(api, date),
    billOf: (file) => rowsOfTradeBill(file, name),
    end: () => api.end(),
  }
}

// A code can be paid for two hours; an order that ends sooner than in a minute is refused.
const LONGEST_MS = 2 * HOUR
const SHORTEST_MS = 2 * MINUTE

interface Account {
  readonly mchid: string
  readonly appid: string
}

function parametersOf(settings: ChannelSettings, { mchid, appid }: Account, payment: NewPayment): string {
  const { now, expiresAt = Infinity } = payment
  const until = Math.max(now + SHORTEST_MS, Math.min(now + LONGEST_MS, expiresAt))
  return JSON.stringify({
    appid,
    mchid,
    description: cutToBytes(`Order ${payment.orderId}`, 127),
    out_trade_no: payment.number,
    // Whole seconds.
    time_expire: new Date(until).toISOString().replace(/\.\d{3}Z$/, '+00:00'),
    attach: markOf(payment.orderId),
    notify_url: settings.callbackUrl,
    amount: { total: payment.amountCents, currency: payment.currency },
  })
}

function toOpened(name: string, answer: Members, parameters: string): OpenedPayment {
  const url = textOf(answer['code_url'])
  const expiresAt = parseRfc3339(textOf(parseMembers(parameters)['time_expire']) ?? '')
  if (url === undefined || expiresAt === undefined) throw unusableAnswer(name, 'code_url')
  return { providerId: undefined, action: { type: 'qr_code', url, expiresAt } }
}

/** `REFUND`: the money has come, and some of it has gone back. */
const STATES: Readonly<Record<string, ProviderPayment['status']>> = {
  SUCCESS: 'paid',
  REFUND: 'paid',
  NOTPAY: 'open',
  USERPAYING: 'open',
  CLOSED: 'closed',
  REVOKED: 'closed',
  PAYERROR: 'failed',
}

function toPayment(order: Members): ProviderPayment {
  const status = STATES[textOf(order['trade_state']) ?? ''] ?? 'open'
  const isPaid = status === 'paid'
  const amount = objectMembers(order['amount'])
  return {
    status,
    providerId: textOf(order['transaction_id']),
    amountCents: isPaid ? integerOf(amount['total']) : undefined,
    currency: isPaid ? textOf(amount['currency']) : undefined,
    paidAt: isPaid ? parseRfc3339(textOf(order['success_time']) ?? '') : undefined,
    reason: status === 'failed' ? codeOf(order['trade_state']) : undefined,
  }
}

const MAXIMUM_REASON_BYTES = 80

function refundParameters({ callbackUrl }: ChannelSettings, refund: NewRefund): string {
  const { number, payment, amountCents, reason } = refund
  return JSON.stringify({
    out_trade_no: payment.number,
    out_refund_no: number,
    reason: cutToBytes(reason, MAXIMUM_REASON_BYTES) || undefined,
    notify_url: callbackUrl,
    amount: { refund: amountCents, total: payment.amountCents, currency: payment.currency },
  })
}

const REFUND_STATES: Readonly<Record<string, ProviderRefund['status']>> = {
  SUCCESS: 'succeeded',
  CLOSED: 'failed',
}

/** `ABNORMAL` is pending: a person handles it at WeChat Pay, under the same number. Another refund could pay twice. */
function toRefund(refund: Members): ProviderRefund {
  const state = textOf(refund['status'] ?? refund['refund_status']) ?? ''
  const status = REFUND_STATES[state] ?? 'pending'
  const hasReason = status === 'failed' || state === 'ABNORMAL'
  return { status, providerId: textOf(refund['refund_id']), reason: hasReason ? codeOf(state) : undefined }
}

function toCallback(notice: Members, account: Account & { readonly key: string }): Callback {
  const eventId = textOf(notice['id']) ?? ''
  const type = textOf(notice['event_type']) ?? ''
  const other: Callback = { eventId, type: 'other' }
  if (!/^(TRANSACTION|REFUND)\./.test(type)) return other
  const subject = parseMembers(decryptResource(objectMembers(notice['resource']), account.key))
  if (subject['mchid'] !== account.mchid) return other
  return (
    (type.startsWith('REFUND.')
      ? refundCallback(eventId, subject)
      : paymentCallback(eventId, subject, account)) ?? other
  )
}

function refundCallback(eventId: string, subject: Members): Callback | undefined {
  const number = toNumber(subject['out_refund_no'])
  return number === undefined ? undefined : { eventId, type: 'refund', number, state: toRefund(subject) }
}

function paymentCallback(eventId: string, subject: Members, { appid }: Account): Callback | undefined {
  const [number, orderId] = [toNumber(subject['out_trade_no']), orderOfMark(subject['attach'])]
  if (number === undefined || orderId === undefined || subject['appid'] !== appid) return undefined
  return { eventId, type: 'payment', number, orderId, state: toPayment(subject) }
}
