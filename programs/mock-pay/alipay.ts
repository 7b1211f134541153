import { randomBytes, sign, verify } from 'node:crypto'
import { formatCents, isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { HOUR } from '../../src/kernel/time.ts'
import { JSON_HEADERS, Refusal, type TextAnswer } from '../mock-server/answers.ts'
import { beijingTime, billEntries, entriesWithDifferences, type BillEntry } from './bill-entries.ts'
import type { Book, MockPayment, PaymentEvent } from './book.ts'
import { callbackNameOf, randomDigits } from './fields.ts'
import { encodeGbk } from './gbk.ts'
import type {
  Answer,
  CallbackOptions,
  CallbackRequest,
  Changes,
  Endpoint,
  Fault,
  Provider,
  ProviderDeps,
  ProviderRequest,
} from './provider.ts'
import type { AlipaySecrets } from './secrets.ts'
import { zip } from './zip.ts'

const GATEWAY = '/gateway.do'
const BUYER = 'pat***@example.com'
const FILE = /^\/alipay\/bills\/([0-9a-f]{32})$/
const LIFE_MS = 2 * HOUR

type Members = Readonly<Record<string, unknown>>

interface Call {
  readonly parameters: Members
  /** The text of the parameters. */
  readonly text: string
  readonly notifyUrl: string
  readonly changes: Changes
}

/** https://opendocs.alipay.com/open/02ekfg: what the platform uses of it. */
export class AlipayMock implements Provider {
  readonly channel = 'alipay'
  readonly #deps: ProviderDeps<AlipaySecrets>
  readonly #files = new Map<string, Buffer>()

  /** What each method does, and answers with the code 10000. */
  readonly #methods: Readonly<
    Record<string, { readonly operation: Endpoint['operation']; readonly run: (call: Call) => object }>
  > = {
    'alipay.trade.precreate': { operation: 'create', run: (call) => this.#precreate(call) },
    'alipay.trade.query': {
      operation: 'query',
      run: ({ parameters }) => tradeMembers(this.#tradeOf(parameters)),
    },
    'alipay.trade.close': { operation: 'close', run: (call) => this.#close(call) },
    'alipay.trade.refund': { operation: 'refund', run: (call) => this.#refund(call) },
    'alipay.trade.fastpay.refund.query': { operation: 'query', run: (call) => this.#queryRefund(call) },
    'alipay.data.dataservice.bill.downloadurl.query': { operation: 'bill', run: (call) => this.#bill(call) },
  }

  constructor(deps: ProviderDeps<AlipaySecrets>) {
    this.#deps = deps
  }

  endpointOf(request: ProviderRequest): Endpoint | undefined {
    if (request.path === GATEWAY && request.method === 'POST') return this.#gateway(request)
    const token = FILE.exec(request.path)?.[1]
    if (token === undefined) return undefined
    const body = this.#files.get(token)
    if (!body) throw new Refusal({ status: 404, headers: {}, body: '' })
    const headers = { 'Content-Type': 'application/zip' }
    return { operation: undefined, answer: () => ({ status: 200, headers, body }) }
  }

  fault({ body }: ProviderRequest, fault: Fault): Answer {
    const method = new URLSearchParams(body).get('method') ?? ''
    if (fault === '500')
      return { status: 500, headers: { 'Content-Type': 'text/html' }, body: '<h1>500</h1>', error: '500' }
    return this.#answer(
      method,
      fault === '429'
        ? failure('isv.app-call-limited', '应用调用次数超限', '40005')
        : failure('ACQ.ACCESS_FORBIDDEN', '无权限使用接口', '40004'),
    )
  }

  callbackOf(event: PaymentEvent, options: CallbackOptions): CallbackRequest | undefined {
    return notification(event, options, this.#deps.secrets)
  }

  isAcknowledged(status: number, body: string): boolean {
    return status === 200 && body.trim() === 'success'
  }

  #gateway(request: ProviderRequest): Endpoint {
    const fields = authenticate(request, this.#deps.secrets)
    const name = fields.get('method') ?? ''
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined
    if (!method)
      throw new Refusal(this.#answer(name, failure('isv.invalid-method', '不存在的方法名', '40004')))
    const text = fields.get('biz_content') ?? ''
    const run = (changes: Changes) => {
      const parameters = jsonValueOf(text)
      if (!isRecord(parameters)) return refuse('isv.invalid-parameter', 'biz_content')
      return method.run({ parameters, text, notifyUrl: fields.get('notify_url') ?? '', changes })
    }
    return { operation: method.operation, answer: (changes) => this.#resultOf(name, () => run(changes)) }
  }

  #resultOf(method: string, run: () => object): Answer {
    try {
      return this.#answer(method, { code: '10000', msg: 'Success', ...run() })
    } catch (error) {
      if (error instanceof BusinessError)
        return { ...this.#answer(method, error.result), error: error.message }
      throw error
    }
  }

  #answer(method: string, result: object): TextAnswer {
    return resultAnswer(method, result, this.#deps.secrets)
  }

  #tradeOf({ out_trade_no: number }: Members): MockPayment {
    const payment = this.#deps.book.ofNumber('alipay', textOf(number))
    return payment?.isScanned ? payment : refuse('ACQ.TRADE_NOT_EXIST', '交易不存在')
  }

  #precreate({ parameters, text, notifyUrl }: Call): object {
    const { book, clock, pageUrl } = this.#deps
    const order = parseTrade(parameters, notifyUrl, clock.now())
    const known = book.ofNumber('alipay', order.number)
    if (known?.paidAt !== undefined) refuse('ACQ.TRADE_HAS_SUCCESS', '交易已被支付')
    if (known?.status === 'closed') refuse('ACQ.TRADE_HAS_CLOSE', '交易已经关闭')
    if (known && known.parameters !== text) refuse('ACQ.CONTEXT_INCONSISTENT', '交易信息被篡改')
    const payment = known ?? book.add({ ...order, parameters: text })
    return { out_trade_no: payment.number, qr_code: pageUrl(payment.token) }
  }

  #close({ parameters }: Call): object {
    const payment = this.#tradeOf(parameters)
    if (payment.status !== 'open' && payment.status !== 'processing')
      refuse('ACQ.TRADE_STATUS_ERROR', '交易状态不合法')
    this.#deps.book.close(payment)
    return { out_trade_no: payment.number, trade_no: payment.id }
  }

  #refund({ parameters, text, changes }: Call): object {
    if (changes.refundFails) refuse('ACQ.SELLER_BALANCE_NOT_ENOUGH', '卖家余额不足')
    return refundTrade(this.#deps.book, this.#tradeOf(parameters), parameters, text)
  }

  #queryRefund({ parameters }: Call): object {
    const payment = this.#tradeOf(parameters)
    const refund = payment.refunds.find(({ number }) => number === parameters['out_request_no'])
    if (!refund) return {}
    return {
      out_trade_no: payment.number,
      out_request_no: refund.number,
      refund_amount: formatCents(refund.amountCents),
      ...(refund.status === 'succeeded' && { refund_status: 'REFUND_SUCCESS' }),
    }
  }

  #bill({ parameters, changes }: Call): object {
    const { book, secrets, baseUrl } = this.#deps
    const date = textOf(parameters['bill_date'])
    if (parameters['bill_type'] !== 'trade') refuse('isv.invalid-parameter', 'bill_type')
    const entries = billEntries(book, 'alipay', date)
    if (entries.length === 0 || changes.bill === 'none') refuse('isp.bill_not_exist', '账单不存在')
    const token = randomBytes(16).toString('hex')
    const listed = changes.bill === 'differs' ? entriesWithDifferences(entries) : entries
    this.#files.set(token, billZip(listed, date, secrets.sellerId))
    return { bill_download_url: `${baseUrl}/alipay/bills/${token}` }
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

const failure = (code: string, message: string, gatewayCode: string) => ({
  code: gatewayCode,
  msg: 'Business Failed',
  sub_code: code,
  sub_msg: message,
})

class BusinessError extends Error {
  override readonly name = 'BusinessError'
  readonly result: object

  constructor(code: string, message: string) {
    super(code)
    this.result = failure(code, message, '40004')
  }
}

function refuse(code: string, message: string): never {
  throw new BusinessError(code, message)
}

/** All fields but the signature, by name. Empty values are signed too. */
const signedText = (fields: Iterable<readonly [string, string]>) =>
  [...fields]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

function authenticate({ body }: ProviderRequest, secrets: AlipaySecrets): ReadonlyMap<string, string> {
  const fields = new Map(new URLSearchParams(body))
  const signature = fields.get('sign') ?? ''
  fields.delete('sign')
  const isSigned =
    fields.get('app_id') === secrets.appId &&
    fields.get('sign_type') === 'RSA2' &&
    verify(
      'sha256',
      Buffer.from(signedText(fields)),
      secrets.merchantPublicKey,
      Buffer.from(signature, 'base64'),
    )
  if (isSigned) return fields
  const result = { error_response: failure('isv.invalid-signature', '无效签名', '40002') }
  throw new Refusal({
    status: 200,
    headers: JSON_HEADERS,
    body: JSON.stringify(result),
    error: 'isv.invalid-signature',
  })
}

function resultAnswer(method: string, result: object, { providerKey }: AlipaySecrets): TextAnswer {
  const text = JSON.stringify(result)
  const signature = sign('sha256', Buffer.from(text), providerKey).toString('base64')
  const body = `{"${method.replaceAll('.', '_')}_response":${text},"sign":"${signature}"}`
  return { status: 200, headers: JSON_HEADERS, body }
}

const NUMBER = /^[0-9A-Za-z_]{1,64}$/
const AMOUNT = /^(\d{1,9})\.(\d{2})$/
const MAXIMUM_CENTS = 10_000_000_000

function parseTrade(parameters: Members, notifyUrl: string, now: number) {
  const invalid = (name: string) => refuse('ACQ.INVALID_PARAMETER', `参数无效: ${name}`)
  const text = (name: string, maximum: number) => {
    const value = parameters[name]
    return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maximum
      ? value
      : invalid(name)
  }
  const number = text('out_trade_no', 64)
  if (!NUMBER.test(number)) invalid('out_trade_no')
  const amountCents = parseAmount(text('total_amount', 12)) ?? invalid('total_amount')
  if (amountCents < 1 || amountCents > MAXIMUM_CENTS) invalid('total_amount')
  const subject = text('subject', 256)
  if (/[/=&]/.test(subject)) invalid('subject')
  const expiresAt =
    parameters['time_expire'] === undefined
      ? now + LIFE_MS
      : Date.parse(`${text('time_expire', 19).replace(' ', 'T')}+08:00`)
  if (!(expiresAt > now)) invalid('time_expire')
  return {
    channel: 'alipay' as const,
    number,
    id: `2026${randomDigits(24)}`,
    amountCents,
    currency: 'CNY',
    subject,
    marks: parameters['body'] === undefined ? {} : { body: text('body', 128) },
    returnUrl: undefined,
    callbackName: callbackNameOf(notifyUrl) ?? invalid('notify_url'),
    expiresAt: Math.min(expiresAt, now + LIFE_MS),
  }
}

function parseAmount(text: string): number | undefined {
  const [, units, cents] = AMOUNT.exec(text) ?? []
  return units === undefined ? undefined : Number(`${units}${cents}`)
}

const refundedCents = ({ refunds }: Readonly<MockPayment>) =>
  refunds.reduce((all, { amountCents }) => all + amountCents, 0)

/** A trade that is refunded as a whole is closed. */
function tradeStatus(payment: Readonly<MockPayment>): string {
  if (payment.status === 'paid')
    return refundedCents(payment) === payment.amountCents ? 'TRADE_CLOSED' : 'TRADE_SUCCESS'
  return payment.status === 'closed' || payment.status === 'failed' ? 'TRADE_CLOSED' : 'WAIT_BUYER_PAY'
}

function tradeMembers(payment: MockPayment): object {
  return {
    trade_no: payment.id,
    out_trade_no: payment.number,
    buyer_logon_id: BUYER,
    trade_status: tradeStatus(payment),
    total_amount: formatCents(payment.amountCents),
    ...(payment.paidAt !== undefined && { send_pay_date: beijingTime(payment.paidAt) }),
  }
}

function refundTrade(book: Book, payment: MockPayment, parameters: Members, text: string): object {
  const number = textOf(parameters['out_request_no'])
  const amountCents = parseAmount(textOf(parameters['refund_amount'])) ?? 0
  const done = (fundChange: 'Y' | 'N') => ({
    out_trade_no: payment.number,
    trade_no: payment.id,
    fund_change: fundChange,
    refund_fee: formatCents(refundedCents(payment)),
  })
  const known = payment.refunds.find((each) => each.number === number)
  if (known && known.amountCents !== amountCents)
    refuse('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL', 'the amount is another one')
  if (known) return done('N')
  if (payment.paidAt === undefined) refuse('ACQ.TRADE_STATUS_ERROR', '交易状态不合法')
  if (amountCents < 1 || amountCents > book.leftOf(payment))
    refuse('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL', '退款金额超限')
  const refund = book.addRefund(payment, {
    number,
    id: number,
    amountCents,
    marks: {},
    parameters: text,
    callbackName: payment.callbackName,
    status: 'pending',
  })
  book.endRefund(payment, refund, 'succeeded')
  return done('Y')
}

/** Alipay notifies of payments and refunds, but not of a trade that ends without money. */
function notification(
  { id, kind, at, payment, refund }: PaymentEvent,
  { isForged }: CallbackOptions,
  secrets: AlipaySecrets,
): CallbackRequest | undefined {
  if (!['paid', 'processing', 'refunded'].includes(kind)) return undefined
  const fields: Record<string, string> = {
    notify_id: id,
    notify_time: beijingTime(at),
    notify_type: 'trade_status_sync',
    app_id: secrets.appId,
    charset: 'utf-8',
    version: '1.0',
    trade_no: payment.id,
    out_trade_no: payment.number,
    trade_status: tradeStatus(payment),
    total_amount: formatCents(payment.amountCents),
    subject: payment.subject,
    body: payment.marks['body'] ?? '',
    seller_id: secrets.sellerId,
    buyer_id: '2088000000000000',
    buyer_logon_id: BUYER,
    gmt_create: beijingTime(payment.createdAt),
    // An empty value, which the signature covers.
    invoice_amount: '',
    ...(payment.paidAt !== undefined && { gmt_payment: beijingTime(payment.paidAt) }),
    ...(refund && {
      out_biz_no: refund.number,
      refund_fee: formatCents(refundedCents(payment)),
      gmt_refund: beijingTime(at),
    }),
  }
  const text = signedText(Object.entries(fields))
  const signature = sign('sha256', Buffer.from(isForged ? `${text} ` : text), secrets.providerKey).toString(
    'base64',
  )
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams({ ...fields, sign_type: 'RSA2', sign: signature }).toString(),
  }
}

const HEADER =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注'

function billZip(entries: readonly BillEntry[], date: string, sellerId: string): Buffer {
  const name = `${sellerId}_${date.replaceAll('-', '')}_业务明细`
  const file = (title: string, lines: readonly string[]) => ({
    name: encodeGbk(title),
    content: encodeGbk(lines.map((line) => `${line}\r\n`).join('')),
  })
  const detail = [
    '#支付宝业务明细查询',
    `#账号：[${sellerId}]`,
    '#-----------------------------------------业务明细列表----------------------------------------',
    HEADER,
    ...entries.map(billRow),
    '#-----------------------------------------业务明细列表结束------------------------------------',
    `#导出时间：[${date}]`,
  ]
  return zip([
    file(`${name}(汇总).csv`, ['#支付宝业务汇总查询', '门店编号,门店名称']),
    file(`${name}.csv`, detail),
  ])
}

// Store, its name, operator, terminal
const NO_STORE = ['', '', '', '']
const NO_DISCOUNTS = ['0.00', '0.00', '0.00', '0.00', '0.00']

function billRow({ payment, refund, amountCents, localTime }: BillEntry): string {
  const amount = formatCents(refund ? -amountCents : amountCents)
  const kind = refund ? '退款' : '交易'
  const { id, number, subject } = payment
  const cells = [id, number, kind, subject, localTime, localTime]
    .concat(NO_STORE, BUYER, amount, amount, NO_DISCOUNTS, '', '0.00', '0.00')
    .concat(refund?.number ?? '', '0.00', '0.00', '')
  return cells.map((cell) => `${cell}\t`).join(',')
}
