import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'
import {
  ChannelError,
  type Callback,
  type NewPayment,
  type NewRefund,
  type OpenedPayment,
  type PaymentChannel,
  type PaymentReference,
  type ProviderPayment,
  type ProviderRefund,
  type RefundReference,
  type ChannelSettings,
} from '../../../ports/payments.ts'
import {
  integerOf,
  objectMembers,
  parseMembers,
  textOf,
  type Members,
  toNumber,
  NO_PAYMENT,
  NO_REFUND,
} from '../fields.ts'
import { isRefusal, unusableAnswer, secretOf, type ChannelDeps } from '../provider-connection.ts'
import { REPLAYED, StripeApi, verifySignature, toPayment, toRefund } from './api.ts'
import { balanceRows, reportRows } from './bill.ts'

const DEFAULT_API_URL = 'https://api.stripe.com'
const SESSIONS = '/v1/checkout/sessions'

/** Stripe, with a Checkout Session for each payment. https://docs.stripe.com/api/checkout/sessions */
export function createStripe(settings: ChannelSettings, deps: ChannelDeps): PaymentChannel {
  const api = new StripeApi({ ...settings, apiUrl: settings.apiUrl || DEFAULT_API_URL }, deps)
  const secrets = secretOf(settings, 'STRIPE_WEBHOOK_SECRET')
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
  const query = (payment: PaymentReference) => queryPayment(api, payment)
  const { name } = settings
  return {
    name,
    kind: 'stripe',
    isKnownByNumber: false,
    amountRefusal: (cents) => amountRefusal(settings.currency, cents),
    parametersOf: (payment) => parametersOf(settings, payment),
    create: async (number, parameters) => {
      const session = await api.post(SESSIONS, parameters, number).catch(refuseReplay)
      return toOpened(name, session, parameters)
    },
    query,
    close: async (payment) => {
      const { providerId } = payment
      if (providerId === undefined) return NO_PAYMENT
      try {
        return toPayment(await api.post(`${SESSIONS}/${encodeURIComponent(providerId)}/expire`, ''))
      } catch (error) {
        // A session that is not open cannot be ended: it is complete, or has ended already.
        if (isRefusal(error)) return query(payment)
        throw error
      }
    },
    refund: async (refund) => {
      const intent = await intentOf(api, refund.payment)
      const parameters = refundParameters(refund, intent)
      return toRefund(
        await api.post('/v1/refunds', parameters, refund.number).catch(async (error: unknown) => {
          // The refund may have been made before the error.
          const made = isReplay(error) && (await findRefund(api, intent, refund.number))
          return made || refuseReplay(error)
        }),
      )
    },
    queryRefund: (refund) => queryRefund(api, refund),
    verifyCallback: (headers, body) => {
      verifySignature(headers, body, { secrets, now: deps.clock.now() })
      return toCallback(parseMembers(body.toString('utf8')))
    },
    acknowledgement: { status: 200, contentType: undefined, body: '' },
    bill: async (date) => balanceRows(api, date, deps.timeZone ?? 'UTC'),
    billOf: (file) => reportRows(file, name),
    end: () => api.end(),
  }
}

function isReplay(error: unknown): error is ChannelError {
  return error instanceof ChannelError && error.code === REPLAYED
}

/** An error that Stripe repeats for the same key is final: nothing was made that anybody knows. */
function refuseReplay(error: unknown): never {
  if (!isReplay(error)) throw error
  throw new ChannelError(error.message, 'refused', REPLAYED, error)
}

// https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts
const MINIMUM_CENTS: Readonly<Record<string, number>> = {
  USD: 50,
  AED: 200,
  AUD: 50,
  BRL: 50,
  CAD: 50,
  CHF: 50,
  CZK: 1_500,
  DKK: 250,
  EUR: 50,
  GBP: 30,
  HKD: 400,
  INR: 50,
  MXN: 1_000,
  MYR: 200,
  NOK: 300,
  NZD: 50,
  PLN: 200,
  RON: 200,
  SEK: 300,
  SGD: 50,
  THB: 1_000,
  // Stripe lists no minimum of these; each is worth more than the US dollar.
  FKP: 30,
  GIP: 30,
  KYD: 30,
  SHP: 30,
}
// The minimum for other currencies, which are worth at most as much as the US dollar: Stripe wants the value of 0.50 US
// dollars. It refuses an amount between this number and that value itself, as in CNY, by its exchange rate.
const LEAST_CENTS = 50
const MAXIMUM_CENTS = 99_999_999

function amountRefusal(currency: string, cents: number): string | undefined {
  const minimum = MINIMUM_CENTS[currency] ?? LEAST_CENTS
  if (cents < minimum) return `Stripe takes at least ${minimum} cents of ${currency}`
  return cents > MAXIMUM_CENTS ? `Stripe takes at most ${MAXIMUM_CENTS} cents` : undefined
}

// A session ends 30 minutes to 24 hours after it is made. With this distance to the order's end, a call that is repeated
// until then is never refused for its time; the payment is closed at the order's end.
const AFTER_ORDER_MS = 31 * MINUTE
const LONGEST_MS = 24 * HOUR - MINUTE

function parametersOf(settings: ChannelSettings, payment: NewPayment): string {
  const returnUrl = payment.returnUrl ?? new URL('../done', settings.callbackUrl).href
  const expiresAt = payment.expiresAt === undefined ? Number.NaN : payment.expiresAt + AFTER_ORDER_MS
  const metadata = [
    ['[platform_payment]', payment.number],
    ['[platform_order]', payment.orderId],
  ] as const
  const item = 'line_items[0]'
  return new URLSearchParams([
    ['mode', 'payment'],
    ['client_reference_id', payment.number],
    ['success_url', returnUrl],
    ['cancel_url', returnUrl],
    [`${item}[quantity]`, '1'],
    [`${item}[price_data][currency]`, payment.currency.toLowerCase()],
    [`${item}[price_data][unit_amount]`, String(payment.amountCents)],
    [`${item}[price_data][product_data][name]`, `Order ${payment.orderId}`],
    ...metadata.map(([key, value]) => [`metadata${key}`, value]),
    // The metadata of a session are not those of its charge, which the books have.
    ...metadata.map(([key, value]) => [`payment_intent_data[metadata]${key}`, value]),
    ...(expiresAt <= payment.now + LONGEST_MS ? [['expires_at', String(Math.ceil(expiresAt / SECOND))]] : []),
  ]).toString()
}

function toOpened(name: string, session: Members, parameters: string): OpenedPayment {
  const [providerId, url, endsAt] = [
    textOf(session['id']),
    textOf(session['url']),
    integerOf(session['expires_at']),
  ]
  if (providerId === undefined || url === undefined || endsAt === undefined)
    throw unusableAnswer(name, 'id, url and expires_at of a session')
  const isBounded = new URLSearchParams(parameters).has('expires_at')
  const expiresAt = endsAt * SECOND - (isBounded ? AFTER_ORDER_MS : 0)
  return { providerId, action: { type: 'redirect', url, expiresAt } }
}

/** Queries a payment by the id of its session, because Stripe does not know our number. */
async function queryPayment(api: StripeApi, { providerId }: PaymentReference): Promise<ProviderPayment> {
  if (providerId === undefined) return NO_PAYMENT
  const path = `${SESSIONS}/${encodeURIComponent(providerId)}?expand[]=payment_intent.latest_charge`
  const session = await api.find(path)
  return session ? toPayment(session) : NO_PAYMENT
}

async function intentOf(api: StripeApi, { providerId, number }: PaymentReference): Promise<string> {
  const session =
    providerId === undefined ? undefined : await api.find(`${SESSIONS}/${encodeURIComponent(providerId)}`)
  const intent = textOf(session?.['payment_intent'])
  if (intent !== undefined) return intent
  const message = `${api.name}: the payment ${number} has taken no money that could go back`
  throw new ChannelError(message, 'refused', 'no_payment_intent')
}

// https://docs.stripe.com/api/metadata
const MAXIMUM_METADATA_CHARACTERS = 500

function refundParameters({ number, amountCents, payment, reason }: NewRefund, intent: string): string {
  return new URLSearchParams([
    ['payment_intent', intent],
    ['amount', String(amountCents)],
    ['metadata[platform_refund]', number],
    ['metadata[platform_payment]', payment.number],
    // Stripe's own `reason` is one of three words.
    ['metadata[reason]', reason.slice(0, MAXIMUM_METADATA_CHARACTERS).toWellFormed()],
  ]).toString()
}

async function queryRefund(api: StripeApi, refund: RefundReference): Promise<ProviderRefund> {
  const { providerId, number } = refund
  const found =
    providerId === undefined
      ? await findRefund(api, await intentOf(api, refund.payment), number)
      : await api.find(`/v1/refunds/${encodeURIComponent(providerId)}`)
  return found ? toRefund(found) : NO_REFUND
}

async function findRefund(api: StripeApi, intent: string, number: string): Promise<Members | undefined> {
  for await (const refund of api.list(`/v1/refunds?payment_intent=${encodeURIComponent(intent)}`))
    if (objectMembers(refund['metadata'])['platform_refund'] === number) return refund
  return undefined
}

const PAYMENT_EVENTS = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
]
const REFUND_EVENTS = ['refund.created', 'refund.updated', 'refund.failed']

function toCallback(event: Members): Callback {
  const eventId = textOf(event['id']) ?? ''
  const type = textOf(event['type']) ?? ''
  const subject = objectMembers(objectMembers(event['data'])['object'])
  const metadata = objectMembers(subject['metadata'])
  if (PAYMENT_EVENTS.includes(type)) return paymentCallback(eventId, type, subject, event)
  const number = toNumber(metadata['platform_refund'])
  if (REFUND_EVENTS.includes(type) && number !== undefined)
    return { eventId, type: 'refund', number, state: toRefund(subject) }
  return { eventId, type: 'other' }
}

function paymentCallback(eventId: string, type: string, session: Members, event: Members): Callback {
  const metadata = objectMembers(session['metadata'])
  const number = toNumber(metadata['platform_payment'])
  const found = toPayment(session)
  const hasFailed = type === 'checkout.session.async_payment_failed'
  // Complete and not yet paid: the money comes, or not, with a later event.
  if (number === undefined || (found.status === 'open' && !hasFailed)) return { eventId, type: 'other' }
  const createdAt = integerOf(event['created'])
  const paidAt = found.status === 'paid' && createdAt !== undefined ? createdAt * SECOND : undefined
  const state: ProviderPayment = hasFailed
    ? { ...found, status: 'failed', reason: 'async_payment_failed' }
    : { ...found, paidAt: found.paidAt ?? paidAt }
  return { eventId, type: 'payment', number, orderId: textOf(metadata['platform_order']), state }
}
