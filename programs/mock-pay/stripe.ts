import { createHmac, randomBytes } from 'node:crypto'
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts'
import { jsonAnswer, Refusal, type TextAnswer } from '../mock-server/answers.ts'
import { isSameSecret } from '../mock-server/equality.ts'
import type { MockPayment, MockRefund, PaymentEvent } from './book.ts'
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
import type { StripeSecrets } from './secrets.ts'

interface Replayed {
  readonly parameters: string
  readonly answer: Answer
}

const SESSION = /^\/v1\/checkout\/sessions\/(cs_[A-Za-z0-9_]+)(\/expire)?$/
const REFUND = /^\/v1\/refunds\/(re_[A-Za-z0-9]+)$/
const MAXIMUM_METADATA_CHARACTERS = 500
const MAXIMUM_KEY_CHARACTERS = 255

/** https://docs.stripe.com/api: what the platform uses of it. */
export class StripeMock implements Provider {
  readonly channel = 'stripe'
  readonly #deps: ProviderDeps<StripeSecrets>
  readonly #answered = new Map<string, Replayed>()
  readonly #paymentsByIntent = new Map<string, MockPayment>()

  constructor(deps: ProviderDeps<StripeSecrets>) {
    this.#deps = deps
  }

  endpointOf(request: ProviderRequest): Endpoint | undefined {
    const { method, path, query } = request
    if (!path.startsWith('/v1/')) return undefined
    authenticate(request, this.#deps.secrets.secretKey)
    const [, session, expire] = SESSION.exec(path) ?? []
    if (session !== undefined) return this.#sessionEndpoint(request, session, expire !== undefined)
    const refund = REFUND.exec(path)?.[1]
    if (refund !== undefined && method === 'GET')
      return { operation: 'query', answer: () => this.#findRefund(refund) }
    switch (`${method} ${path}`) {
      case 'POST /v1/checkout/sessions':
        return { operation: 'create', answer: () => this.#once(request, () => this.#createSession(request)) }
      case 'POST /v1/refunds':
        return {
          operation: 'refund',
          answer: (changes) => this.#once(request, () => this.#createRefund(request, changes)),
        }
      case 'GET /v1/refunds':
        return { operation: 'query', answer: () => page(this.#refundsOf(query.get('payment_intent')), query) }
      case 'GET /v1/balance_transactions':
        return {
          operation: 'bill',
          answer: (changes) => page(applyChanges(this.#transactions(...rangeOf(query)), changes), query),
        }
      default:
        return undefined
    }
  }

  fault(request: ProviderRequest, fault: Fault): Answer {
    if (fault === '429') return errorAnswer(429, 'rate_limit', 'Too many requests')
    if (fault === 'fail') return errorAnswer(402, 'card_declined', 'The provider refuses')
    const answer = errorAnswer(500, undefined, 'An unknown error occurred', 'api_error')
    return request.method === 'POST' ? this.#once(request, () => answer) : answer
  }

  callbackOf(event: PaymentEvent, options: CallbackOptions): CallbackRequest {
    const { payment, refund, kind } = event
    const subject = refund ? refundOf(payment, refund) : this.#sessionOf(payment)
    const { webhookSecret } = this.#deps.secrets
    return signedEvent(event, EVENT_TYPES[kind], subject, options, webhookSecret)
  }

  isAcknowledged(status: number): boolean {
    return status >= 200 && status < 300
  }

  #sessionOf(payment: Readonly<MockPayment>, isExpanded = false) {
    const { status, amountCents, currency } = payment
    const isComplete = ['paid', 'processing', 'failed'].includes(status)
    const intent = isComplete || payment.isScanned ? intentIdOf(payment) : null
    return {
      id: payment.id,
      object: 'checkout.session',
      mode: 'payment',
      amount_total: amountCents,
      currency: currency.toLowerCase(),
      client_reference_id: payment.number,
      created: seconds(payment.createdAt),
      expires_at: seconds(payment.expiresAt),
      // A real session has the payer's name and address here.
      customer_details: PAYER,
      metadata: payment.marks,
      payment_intent: isExpanded ? intentOf(payment) : intent,
      payment_status: status === 'paid' ? 'paid' : 'unpaid',
      status: isComplete ? 'complete' : status === 'closed' ? 'expired' : 'open',
      url: status === 'open' ? this.#deps.pageUrl(payment.token) : null,
    }
  }

  #createSession({ body }: ProviderRequest): Answer {
    const { book, clock } = this.#deps
    const payment = book.add(parseSession(new URLSearchParams(body), body, clock.now()))
    this.#paymentsByIntent.set(intentIdOf(payment), payment)
    return jsonAnswer(this.#sessionOf(payment))
  }

  #sessionEndpoint({ method, query }: ProviderRequest, id: string, isExpire: boolean): Endpoint | undefined {
    const payment = () =>
      this.#deps.book.ofId(id) ?? refuse(404, 'resource_missing', 'No such checkout.session')
    if (isExpire && method === 'POST') return { operation: 'close', answer: () => this.#expire(payment()) }
    if (isExpire || method !== 'GET') return undefined
    const isExpanded = query.getAll('expand[]').some((each) => each.startsWith('payment_intent'))
    return {
      operation: 'query',
      answer: () => jsonAnswer(this.#sessionOf(payment(), isExpanded)),
    }
  }

  #expire(payment: MockPayment): Answer {
    if (payment.status !== 'open')
      refuse(400, undefined, 'Only Checkout Sessions with a status of open can be expired')
    this.#deps.book.close(payment)
    return jsonAnswer(this.#sessionOf(payment))
  }

  #createRefund({ body }: ProviderRequest, { refundFails }: Changes): Answer {
    const { book } = this.#deps
    const form = new URLSearchParams(body)
    const payment =
      this.#paymentsByIntent.get(form.get('payment_intent') ?? '') ??
      refuse(400, 'resource_missing', 'No such payment_intent')
    const refund = book.addRefund(payment, parseRefund(form, body, payment, book.leftOf(payment)))
    book.endRefund(payment, refund, 'succeeded')
    const answer = jsonAnswer(refundOf(payment, refund))
    // The bank of the payer sends it back.
    if (refundFails) book.endRefund(payment, refund, 'failed')
    return answer
  }

  #findRefund(id: string): Answer {
    for (const payment of this.#paymentsByIntent.values()) {
      const refund = payment.refunds.find((each) => each.id === id)
      if (refund) return jsonAnswer(refundOf(payment, refund))
    }
    return refuse(404, 'resource_missing', 'No such refund')
  }

  #refundsOf(intent: string | null) {
    const payment = this.#paymentsByIntent.get(intent ?? '')
    return payment ? payment.refunds.toReversed().map((refund) => refundOf(payment, refund)) : []
  }

  #transactions(from: number, until: number) {
    return this.#deps.book
      .payments()
      .filter(({ channel, paidAt }) => channel === 'stripe' && paidAt !== undefined)
      .flatMap((payment) => [
        transaction('charge', seconds(payment.paidAt ?? 0), payment.amountCents, chargeOf(payment)),
        ...payment.refunds.map((refund) =>
          transaction('refund', seconds(refund.createdAt), -refund.amountCents, refundOf(payment, refund)),
        ),
      ])
      .filter(({ created }) => created >= from && created < until)
  }

  /** A repeated key gets its first answer, whatever it was; another call must not use it. */
  #once({ headers, path, body }: ProviderRequest, run: () => Answer): Answer {
    const key = headers['idempotency-key']
    if (typeof key !== 'string') return run()
    if (key.length > MAXIMUM_KEY_CHARACTERS) return refuse(400, undefined, 'The idempotency key is too long')
    const parameters = `${path} ${body}`
    const known = this.#answered.get(key)
    if (known && known.parameters !== parameters)
      return refuse(
        400,
        undefined,
        'Keys for idempotent requests can only be used with the same parameters',
        'idempotency_error',
      )
    if (known) return { ...known.answer, headers: { ...known.answer.headers, 'Idempotent-Replayed': 'true' } }
    const answer = run()
    this.#answered.set(key, { parameters, answer })
    return answer
  }
}

const seconds = (at: number) => Math.floor(at / SECOND)
const PAYER = { email: 'payer@example.com', name: 'Pat Payer' }
const INTENT_STATES: Readonly<Partial<Record<MockPayment['status'], string>>> = {
  paid: 'succeeded',
  processing: 'processing',
  closed: 'canceled',
}

function intentOf(payment: Readonly<MockPayment>) {
  const { status, isScanned, paidAt } = payment
  if (status === 'open' && !isScanned) return null
  return {
    id: intentIdOf(payment),
    object: 'payment_intent',
    status: INTENT_STATES[status] ?? 'requires_payment_method',
    last_payment_error: status === 'failed' ? { code: 'payment_intent_payment_attempt_failed' } : null,
    latest_charge: paidAt === undefined ? null : chargeOf(payment),
  }
}

function chargeOf(payment: Readonly<MockPayment>) {
  return {
    id: `ch_${payment.id.slice(-24)}`,
    object: 'charge',
    amount: payment.amountCents,
    currency: payment.currency.toLowerCase(),
    created: seconds(payment.paidAt ?? payment.createdAt),
    billing_details: PAYER,
    metadata: payment.marks,
    status: 'succeeded',
  }
}

function refundOf(payment: Readonly<MockPayment>, refund: Readonly<MockRefund>) {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amountCents,
    currency: payment.currency.toLowerCase(),
    created: seconds(refund.createdAt),
    metadata: refund.marks,
    payment_intent: intentIdOf(payment),
    status: refund.status,
    ...(refund.status === 'failed' && { failure_reason: 'lost_or_stolen_card' }),
  }
}

function parseRefund(form: URLSearchParams, parameters: string, payment: MockPayment, left: number) {
  if (payment.paidAt === undefined) refuse(400, 'charge_already_refunded', 'It has no successful charge')
  const amountCents = Number(form.get('amount') ?? left)
  if (!Number.isSafeInteger(amountCents) || amountCents < 1)
    refuse(400, 'parameter_invalid_integer', 'Invalid amount')
  if (amountCents > left)
    refuse(400, 'charge_already_refunded', 'The amount is greater than the unrefunded amount')
  const marks = metadataOf(form, 'metadata')
  return {
    number: marks['platform_refund'] ?? '',
    id: `re_${randomBytes(12).toString('hex')}`,
    amountCents,
    marks,
    parameters,
    callbackName: payment.callbackName,
    status: 'pending' as const,
  }
}

const EVENT_TYPES: Readonly<Record<PaymentEvent['kind'], string>> = {
  paid: 'checkout.session.completed',
  processing: 'checkout.session.completed',
  declined: 'payment_intent.payment_failed',
  failed: 'checkout.session.async_payment_failed',
  closed: 'checkout.session.expired',
  refunded: 'refund.updated',
}

function signedEvent(
  event: PaymentEvent,
  type: string,
  subject: object,
  { signedAt, isForged }: CallbackOptions,
  secret: string,
) {
  const body = JSON.stringify({
    id: `evt_${event.id}`,
    object: 'event',
    created: Math.floor(event.at / SECOND),
    type,
    data: { object: subject },
  })
  const time = Math.floor(signedAt / SECOND)
  const signature = createHmac('sha256', isForged ? 'whsec_of_another' : secret)
    .update(`${time}.${body}`)
    .digest('hex')
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': `t=${time},v1=${signature}`,
  }
  return { headers, body }
}

const intentIdOf = ({ id }: Readonly<MockPayment>) => `pi_${id.slice(-24)}`

function errorAnswer(
  status: number,
  code: string | undefined,
  message: string,
  type = 'invalid_request_error',
): TextAnswer {
  return jsonAnswer({ error: { type, code, message } }, status, code ?? type)
}

function refuse(status: number, code: string | undefined, message: string, type?: string): never {
  throw new Refusal(errorAnswer(status, code, message, type))
}

function authenticate({ headers }: ProviderRequest, secretKey: string): void {
  if (!isSameSecret(headers.authorization ?? '', `Bearer ${secretKey}`))
    refuse(401, undefined, 'Invalid API Key provided')
}

function metadataOf(form: URLSearchParams, prefix: string): Record<string, string> {
  const marks: Record<string, string> = {}
  for (const [name, value] of form) {
    if (!name.startsWith(`${prefix}[`) || !name.endsWith(']')) continue
    if (value.length > MAXIMUM_METADATA_CHARACTERS)
      refuse(400, 'parameter_too_long', 'Metadata values have at most 500 characters')
    marks[name.slice(prefix.length + 1, -1)] = value
  }
  return marks
}

const LIFE = { shortestMs: 30 * MINUTE, longestMs: 24 * HOUR }

// 0.50 US dollars in currencies that are worth more than the US dollar; the other currencies have larger minimums of their
// own.
const MINIMUM_CENTS: Readonly<Record<string, number>> = { gbp: 30, fkp: 30, gip: 30, kyd: 30, shp: 30 }
const LEAST_CENTS = 50

function parseSession(form: URLSearchParams, parameters: string, now: number) {
  const item = 'line_items[0]'
  const requireField = (name: string) =>
    form.get(name) ?? refuse(400, 'parameter_missing', `Missing required param: ${name}`)
  if (requireField('mode') !== 'payment') refuse(400, 'parameter_unknown', 'This double takes mode=payment')
  if (!/^https?:\/\//.test(requireField('success_url')) || !URL.canParse(requireField('success_url')))
    refuse(400, 'url_invalid', 'Not a valid URL')
  const amountCents =
    Number(requireField(`${item}[price_data][unit_amount]`)) * Number(requireField(`${item}[quantity]`))
  if (!Number.isSafeInteger(amountCents) || amountCents < 0)
    refuse(400, 'parameter_invalid_integer', 'Invalid integer')
  const currency = requireField(`${item}[price_data][currency]`)
  if (!/^[a-z]{3}$/.test(currency)) refuse(400, undefined, 'Invalid currency')
  if (amountCents < (MINIMUM_CENTS[currency] ?? LEAST_CENTS))
    refuse(400, 'amount_too_small', 'The amount is below the minimum')
  if (amountCents > 99_999_999) refuse(400, 'amount_too_large', 'The amount is above the maximum')
  const number = form.get('client_reference_id') ?? ''
  if (number.length > 200) refuse(400, 'parameter_too_long', 'client_reference_id has at most 200 characters')
  const expiresAt = form.has('expires_at') ? Number(form.get('expires_at')) * SECOND : now + LIFE.longestMs
  if (!(expiresAt >= now + LIFE.shortestMs - SECOND && expiresAt <= now + LIFE.longestMs))
    refuse(400, undefined, 'expires_at must be between 30 minutes and 24 hours from now')
  return {
    channel: 'stripe' as const,
    number,
    id: `cs_test_${randomBytes(16).toString('hex')}`,
    amountCents,
    currency: currency.toUpperCase(),
    subject: requireField(`${item}[price_data][product_data][name]`),
    marks: metadataOf(form, 'metadata'),
    returnUrl: requireField('success_url'),
    callbackName: 'stripe',
    parameters,
    expiresAt,
  }
}

interface Transaction {
  readonly id: string
  readonly created: number
  readonly source: { readonly id: string; readonly amount: number; readonly metadata: object }
}

function transaction(type: string, created: number, amount: number, source: Transaction['source']) {
  return { id: `txn_${source.id}`, object: 'balance_transaction', type, created, amount, source }
}

/** The newest row is missing, the next one has a cent more. */
function applyChanges<T extends Transaction>(rows: readonly T[], { bill }: Changes): readonly T[] {
  if (bill === 'none') return []
  if (bill === undefined) return rows
  return rows
    .slice(1)
    .map((row, index) =>
      index === 0 ? { ...row, source: { ...row.source, amount: row.source.amount + 1 } } : row,
    )
}

function rangeOf(query: URLSearchParams): [from: number, until: number] {
  return [Number(query.get('created[gte]') ?? 0), Number(query.get('created[lt]') ?? Infinity)]
}

function page(items: readonly { readonly id: string }[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? 10)
  if (!(limit >= 1 && limit <= 100)) return refuse(400, 'parameter_invalid_integer', 'limit is 1 to 100')
  const after = query.get('starting_after')
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  const data = items.slice(start, start + limit)
  return jsonAnswer({ object: 'list', data, has_more: start + limit < items.length })
}
