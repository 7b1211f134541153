import { createCipheriv, createHash, randomBytes, sign, verify } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { formatCents, isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { HOUR, MINUTE, parseRfc3339, SECOND } from '../../src/kernel/time.ts'
import { JSON_HEADERS, jsonAnswer, Refusal, type TextAnswer } from '../mock-server/answers.ts'
import { billEntries, entriesWithDifferences, type BillEntry } from './bill-entries.ts'
import type { MockPayment, MockRefund, PaymentEvent } from './book.ts'
import { callbackNameOf, randomDigits } from './fields.ts'
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
import type { WechatPaySecrets } from './secrets.ts'

const NATIVE = '/v3/pay/transactions/native'
const ORDER = /^\/v3\/pay\/transactions\/out-trade-no\/([^/]+)(\/close)?$/
const REFUNDS = '/v3/refund/domestic/refunds'
const REFUND = /^\/v3\/refund\/domestic\/refunds\/([^/]+)$/
const BILL = '/v3/bill/tradebill'
const FILE = '/v3/billdownload/file'
const NUMBER = /^[0-9A-Za-z_\-|*]{6,32}$/
const LIFE_MS = 2 * HOUR
const MAXIMUM_SKEW_MS = 5 * MINUTE

/** https://pay.weixin.qq.com/doc/v3/merchant/4012791874: what the platform uses of it. */
export class WechatPayMock implements Provider {
  readonly channel = 'wechatpay'
  readonly #deps: ProviderDeps<WechatPaySecrets>
  readonly #files = new Map<string, Buffer>()

  constructor(deps: ProviderDeps<WechatPaySecrets>) {
    this.#deps = deps
  }

  endpointOf(request: ProviderRequest): Endpoint | undefined {
    const { method, path } = request
    if (!path.startsWith('/v3/')) return undefined
    authenticate(request, this.#deps.secrets, this.#deps.clock.now())
    const [, number, close] = ORDER.exec(path) ?? []
    if (number !== undefined) return this.#orderEndpoint(request, number, close !== undefined)
    const refund = REFUND.exec(path)?.[1]
    if (refund !== undefined && method === 'GET')
      return { operation: 'query', answer: () => this.#queryRefund(refund) }
    switch (`${method} ${path}`) {
      case `POST ${NATIVE}`:
        return { operation: 'create', answer: () => this.#createOrder(request) }
      case `POST ${REFUNDS}`:
        return { operation: 'refund', answer: (changes) => this.#createRefund(request, changes) }
      case `GET ${BILL}`:
        return { operation: 'bill', answer: (changes) => this.#bill(request, changes) }
      case `GET ${FILE}`:
        return { operation: undefined, answer: () => fileAnswer(this.#files, request) }
      default:
        return undefined
    }
  }

  fault(_: ProviderRequest, fault: Fault): Answer {
    if (fault === '429') return errorAnswer(429, 'FREQUENCY_LIMITED', '频率超限')
    if (fault === 'fail') return errorAnswer(403, 'NO_AUTH', '商户无权限')
    return errorAnswer(500, 'SYSTEM_ERROR', '系统错误')
  }

  /** WeChat Pay notifies of payments and refunds, but not of an order that ends without money. */
  callbackOf(event: PaymentEvent, options: CallbackOptions): CallbackRequest | undefined {
    if (event.kind !== 'paid' && event.kind !== 'refunded') return undefined
    const { payment, refund } = event
    const { secrets } = this.#deps
    if (!refund) return notice(event, orderOf(payment, secrets), options, secrets)
    const { status, ...members } = refundOf(payment, refund)
    return notice(event, { mchid: secrets.mchid, ...members, refund_status: status }, options, secrets)
  }

  isAcknowledged(status: number): boolean {
    return status === 200 || status === 204
  }

  #withSignature(answer: Answer): Answer {
    const signature = signatureOf(String(answer.body), this.#deps.clock.now(), this.#deps.secrets)
    return { ...answer, headers: { ...answer.headers, ...signature } }
  }

  #createOrder(request: ProviderRequest): Answer {
    const { book, clock, secrets, pageUrl } = this.#deps
    const order = parseOrder(bodyOf(request), secrets, clock.now())
    const known = book.ofNumber('wechatpay', order.number)
    if (known) requireEqualAndOpen(known, request.body)
    const payment = known ?? book.add({ ...order, parameters: request.body })
    return this.#withSignature(jsonAnswer({ code_url: pageUrl(payment.token) }))
  }

  #find(number: string): MockPayment {
    return this.#deps.book.ofNumber('wechatpay', number) ?? refuse(404, 'ORDER_NOT_EXIST', '订单不存在')
  }

  #orderEndpoint(request: ProviderRequest, number: string, isClose: boolean): Endpoint | undefined {
    if (isClose && request.method === 'POST')
      return { operation: 'close', answer: () => this.#closeOrder(request, number) }
    if (isClose || request.method !== 'GET') return undefined
    const { secrets } = this.#deps
    return {
      operation: 'query',
      answer: () => {
        if (request.query.get('mchid') !== secrets.mchid) refuse(400, 'PARAM_ERROR', 'mchid')
        return this.#withSignature(jsonAnswer(orderOf(this.#find(number), secrets)))
      },
    }
  }

  #closeOrder(request: ProviderRequest, number: string): Answer {
    if (bodyOf(request)['mchid'] !== this.#deps.secrets.mchid) refuse(400, 'MCH_NOT_EXISTS', '商户号不存在')
    const payment = this.#find(number)
    if (payment.status === 'paid') refuse(400, 'ORDERPAID', '订单已支付')
    if (payment.status !== 'closed') this.#deps.book.close(payment)
    return this.#withSignature({ status: 204, headers: {}, body: '' })
  }

  #createRefund(request: ProviderRequest, { refundFails }: Changes): Answer {
    const { book } = this.#deps
    const { body: parameters } = request
    const body = bodyOf(request)
    const known = book.refund('wechatpay', textOf(body['out_refund_no']))
    if (known && known.refund.parameters !== parameters)
      refuse(400, 'INVALID_REQUEST', 'the refund exists with other parameters')
    if (known) return this.#withSignature(jsonAnswer(refundOf(known.payment, known.refund)))
    const payment = this.#find(textOf(body['out_trade_no']))
    const refund = book.addRefund(payment, {
      ...parseRefund(body, payment, book.leftOf(payment)),
      parameters,
    })
    const answer = this.#withSignature(jsonAnswer(refundOf(payment, refund)))
    book.endRefund(payment, refund, refundFails ? 'failed' : 'succeeded')
    return answer
  }

  #queryRefund(number: string): Answer {
    const found =
      this.#deps.book.refund('wechatpay', number) ?? refuse(404, 'RESOURCE_NOT_EXISTS', '退款单不存在')
    return this.#withSignature(jsonAnswer(refundOf(found.payment, found.refund)))
  }

  #bill({ query }: ProviderRequest, { bill: change }: Changes): Answer {
    const { book, secrets, baseUrl } = this.#deps
    const date = query.get('bill_date') ?? ''
    if (
      !/^\d{4}-\d{2}-\d{2}$/.test(date) ||
      query.get('bill_type') !== 'ALL' ||
      query.get('tar_type') !== 'GZIP'
    )
      return refuse(400, 'PARAM_ERROR', 'bill_date, bill_type=ALL and tar_type=GZIP')
    const entries = billEntries(book, 'wechatpay', date)
    if (entries.length === 0 || change === 'none') return refuse(400, 'NO_STATEMENT_EXIST', '账单文件不存在')
    const text = billText(change === 'differs' ? entriesWithDifferences(entries) : entries, secrets)
    const token = randomBytes(16).toString('hex')
    this.#files.set(token, gzipSync(text))
    return this.#withSignature(
      jsonAnswer({
        hash_type: 'SHA1',
        hash_value: createHash('sha1').update(text).digest('hex'),
        download_url: `${baseUrl}${FILE}?token=${token}`,
      }),
    )
  }
}

function bodyOf({ body }: ProviderRequest): Body {
  const value = jsonValueOf(body)
  return isRecord(value) ? value : refuse(400, 'PARAM_ERROR', 'the body is no JSON object')
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

function orderOf(payment: Readonly<MockPayment>, { appid, mchid }: WechatPaySecrets) {
  const total = payment.amountCents
  return {
    appid,
    mchid,
    out_trade_no: payment.number,
    attach: payment.marks['attach'],
    trade_type: 'NATIVE',
    trade_state: tradeState(payment),
    trade_state_desc: '',
    ...(payment.paidAt !== undefined && {
      transaction_id: payment.id,
      bank_type: 'OTHERS',
      success_time: toBeijingTime(payment.paidAt),
      payer: { openid: 'openid_of_the_payer' },
    }),
    amount: { total, payer_total: total, currency: 'CNY', payer_currency: 'CNY' },
  }
}

function refundOf(payment: Readonly<MockPayment>, refund: Readonly<MockRefund>) {
  return {
    refund_id: refund.id,
    out_refund_no: refund.number,
    transaction_id: payment.id,
    out_trade_no: payment.number,
    channel: 'ORIGINAL',
    user_received_account: 'the account of the payer',
    create_time: toBeijingTime(refund.createdAt),
    status: REFUND_STATES[refund.status],
    amount: { total: payment.amountCents, refund: refund.amountCents, currency: 'CNY' },
  }
}

const REFUND_STATES = { pending: 'PROCESSING', succeeded: 'SUCCESS', failed: 'CLOSED' } as const

function tradeState({ status, refunds }: Readonly<MockPayment>): string {
  if (status === 'paid') return refunds.length > 0 ? 'REFUND' : 'SUCCESS'
  return { open: 'NOTPAY', processing: 'USERPAYING', closed: 'CLOSED', failed: 'PAYERROR' }[status]
}

const toBeijingTime = (at: number) => new Date(at + 8 * HOUR).toISOString().replace(/\.\d{3}Z$/, '+08:00')

function notice(
  event: PaymentEvent,
  subject: object,
  { signedAt, isForged }: CallbackOptions,
  secrets: WechatPaySecrets,
): CallbackRequest {
  const kind = event.refund ? 'refund' : 'transaction'
  const outcome = event.refund?.status === 'failed' ? 'CLOSED' : 'SUCCESS'
  const body = JSON.stringify({
    id: event.id,
    create_time: toBeijingTime(event.at),
    event_type: `${kind.toUpperCase()}.${outcome}`,
    resource_type: 'encrypt-resource',
    summary: '',
    resource: encrypt(JSON.stringify(subject), kind, secrets.apiV3Key),
  })
  const text = isForged ? `${body} ` : body
  return { headers: { 'content-type': 'application/json', ...signatureOf(text, signedAt, secrets) }, body }
}

function encrypt(text: string, kind: string, key: string) {
  const nonce = randomBytes(6).toString('hex')
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key), Buffer.from(nonce)).setAAD(Buffer.from(kind))
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return {
    original_type: kind,
    algorithm: 'AEAD_AES_256_GCM',
    ciphertext: sealed.toString('base64'),
    associated_data: kind,
    nonce,
  }
}

function signatureOf(body: string, at: number, secrets: WechatPaySecrets): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND))
  const nonce = randomBytes(16).toString('hex')
  const text = Buffer.from(`${timestamp}\n${nonce}\n${body}\n`)
  return {
    'Wechatpay-Timestamp': timestamp,
    'Wechatpay-Nonce': nonce,
    'Wechatpay-Serial': secrets.publicKeyId,
    'Wechatpay-Signature': sign('sha256', text, secrets.providerKey).toString('base64'),
  }
}

function errorAnswer(status: number, code: string, message: string): TextAnswer {
  return jsonAnswer({ code, message }, status, code)
}

function refuse(status: number, code: string, message: string): never {
  throw new Refusal(errorAnswer(status, code, message))
}

const SCHEME = 'WECHATPAY2-SHA256-RSA2048 '

/** The merchant's signature covers method, address and body. */
function authenticate(
  { method, path, query, headers, body }: ProviderRequest,
  secrets: WechatPaySecrets,
  now: number,
): void {
  const header = headers.authorization ?? ''
  if (!header.startsWith(SCHEME)) return refuse(401, 'SIGN_ERROR', 'the Authorization header is missing')
  if (headers['user-agent'] === undefined || headers.accept === undefined)
    return refuse(400, 'PARAM_ERROR', 'User-Agent and Accept are required')
  const fields = Object.fromEntries(
    [...header.matchAll(/(?<!\w)(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const search = query.size > 0 ? `?${query.toString()}` : ''
  const text = [method, path + search, fields['timestamp'], fields['nonce_str'], body, ''].join('\n')
  const isGood =
    fields['mchid'] === secrets.mchid &&
    fields['serial_no'] === secrets.serialNo &&
    Math.abs(now - Number(fields['timestamp']) * SECOND) <= MAXIMUM_SKEW_MS &&
    verify(
      'sha256',
      Buffer.from(text),
      secrets.merchantPublicKey,
      Buffer.from(fields['signature'] ?? '', 'base64'),
    )
  if (!isGood) refuse(401, 'SIGN_ERROR', '签名错误')
}

type Body = Readonly<Record<string, unknown>>

function parseOrder(body: Body, secrets: WechatPaySecrets, now: number) {
  const invalid = (name: string) => refuse(400, 'PARAM_ERROR', `${name} is not valid`)
  const text = (name: string, maximum: number) => {
    const value = body[name]
    return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maximum
      ? value
      : invalid(name)
  }
  if (body['appid'] !== secrets.appid || body['mchid'] !== secrets.mchid)
    refuse(400, 'APPID_MCHID_NOT_MATCH', 'appid和mch_id不匹配')
  const number = text('out_trade_no', 32)
  if (!NUMBER.test(number)) invalid('out_trade_no')
  const amount = (body['amount'] ?? {}) as Body
  const amountCents = amount['total']
  if (typeof amountCents !== 'number' || !Number.isSafeInteger(amountCents) || amountCents < 1)
    return invalid('amount.total')
  if (amount['currency'] !== 'CNY') invalid('amount.currency')
  const expiresAt = body['time_expire'] === undefined ? now + LIFE_MS : parseRfc3339(text('time_expire', 64))
  if (expiresAt === undefined || expiresAt < now + MINUTE) return invalid('time_expire')
  return {
    channel: 'wechatpay' as const,
    number,
    id: `42000${randomDigits(23)}`,
    amountCents,
    currency: 'CNY',
    subject: text('description', 127),
    marks: body['attach'] === undefined ? {} : { attach: text('attach', 128) },
    returnUrl: undefined,
    callbackName: callbackNameOf(text('notify_url', 255)) ?? invalid('notify_url'),
    expiresAt: Math.min(expiresAt, now + LIFE_MS),
  }
}

function requireEqualAndOpen({ status, parameters }: MockPayment, repeated: string): void {
  if (status === 'paid') refuse(400, 'ORDERPAID', '订单已支付')
  if (status === 'closed') refuse(400, 'ORDER_CLOSED', '订单已关闭')
  if (parameters !== repeated) refuse(400, 'INVALID_REQUEST', '商户订单号重复, the parameters are others')
}

const MAXIMUM_REASON_BYTES = 80

function parseRefund(
  body: Body,
  payment: MockPayment,
  left: number,
): Omit<MockRefund, 'createdAt' | 'parameters'> {
  const amount = (body['amount'] ?? {}) as Body
  const [amountCents, total] = [amount['refund'], amount['total']]
  const number = body['out_refund_no']
  if (typeof number !== 'string' || !/^[0-9A-Za-z_\-|*@]{1,64}$/.test(number))
    return refuse(400, 'PARAM_ERROR', 'out_refund_no')
  const reason = body['reason'] ?? ''
  if (typeof reason !== 'string' || Buffer.byteLength(reason) > MAXIMUM_REASON_BYTES)
    return refuse(400, 'PARAM_ERROR', 'reason')
  if (payment.paidAt === undefined) return refuse(400, 'INVALID_REQUEST', '订单未支付')
  if (total !== payment.amountCents)
    return refuse(400, 'INVALID_REQUEST', 'amount.total is not that of the order')
  if (
    typeof amountCents !== 'number' ||
    !Number.isSafeInteger(amountCents) ||
    amountCents < 1 ||
    amountCents > left
  )
    return refuse(400, 'INVALID_REQUEST', '退款金额大于可退金额')
  const { callbackName } = payment
  return { number, id: `50000${randomDigits(23)}`, amountCents, marks: {}, callbackName, status: 'pending' }
}

function fileAnswer(files: ReadonlyMap<string, Buffer>, { query }: ProviderRequest): Answer {
  const body = files.get(query.get('token') ?? '')
  if (!body) return refuse(404, 'RESOURCE_NOT_EXISTS', '文件不存在')
  return { status: 200, headers: { ...JSON_HEADERS, 'Content-Type': 'text/plain' }, body }
}

/** The first line of a trade bill. */
export const TRADE_BILL_HEADER =
  '交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注'
/** The line before the last one. */
export const TRADE_BILL_TOTALS =
  '总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额'

function billText(entries: readonly BillEntry[], { appid, mchid }: WechatPaySecrets): string {
  const row = (cells: readonly string[]) => `\`${cells.join(',`')}`
  const rows = entries.map(({ payment, refund, amountCents, localTime }) => {
    const paid = refund ? '0.00' : formatCents(amountCents)
    const back = refund ? formatCents(amountCents) : '0.00'
    const head = [
      localTime,
      appid,
      mchid,
      '0',
      '',
      payment.id,
      payment.number,
      'openid_of_the_payer',
      'NATIVE',
    ]
    const state = [refund ? 'REFUND' : 'SUCCESS', 'OTHERS', 'CNY', paid, '0.00']
    const ofRefund = [refund?.id ?? '0', refund?.number ?? '0', back, '0.00']
    const refundState = refund ? ['ORIGINAL', billState(refund)] : ['', '']
    const goods = [payment.subject, payment.marks['attach'] ?? '']
    const fees = ['0.00000', '0.60%', paid, back, '']
    return row(head.concat(state, ofRefund, refundState, goods, fees))
  })
  const sum = (isRefund: boolean) =>
    formatCents(
      entries.reduce(
        (all, each) => all + ((each.refund !== undefined) === isRefund ? each.amountCents : 0),
        0,
      ),
    )
  const totals = row([String(rows.length), sum(false), sum(true), '0.00', '0.00000', sum(false), sum(true)])
  return `${['\uFEFF' + TRADE_BILL_HEADER, ...rows, TRADE_BILL_TOTALS, totals].join('\r\n')}\r\n`
}

const billState = ({ status }: Readonly<MockRefund>) =>
  ({ pending: 'PROCESSING', succeeded: 'SUCCESS', failed: 'FAIL' })[status]
