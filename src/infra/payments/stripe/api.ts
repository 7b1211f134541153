import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  ChannelError,
  type ChannelSettings,
  type ProviderPayment,
  type ProviderRefund,
  BadSignature,
} from '../../../ports/payments.ts'
import { codeOf, listOf, objectMembers, parseMembers, textOf, type Members, integerOf } from '../fields.ts'
import {
  isUnclear,
  ProviderConnection,
  unusableAnswer,
  type ProviderAnswer,
  secretOf,
  type ChannelDeps,
} from '../provider-connection.ts'
import { SECOND } from '../../../kernel/time.ts'

/** The code of an error that Stripe repeats for its idempotency key: it is the outcome, and stays so. */
export const REPLAYED = 'replayed'

/** Another call with the same idempotency key runs at the moment. https://docs.stripe.com/api/idempotent_requests */
const CONFLICT = 409

/** Calls of the HTTP API of Stripe: forms in, JSON out. */
export class StripeApi {
  readonly name: string
  readonly #apiUrl: string
  readonly #authorization: string
  readonly #connection: ProviderConnection

  constructor(settings: ChannelSettings, deps: ChannelDeps) {
    this.name = settings.name
    this.#apiUrl = settings.apiUrl
    this.#authorization = `Bearer ${secretOf(settings, 'STRIPE_SECRET_KEY')}`
    this.#connection = new ProviderConnection(settings, deps)
  }

  /** @throws ChannelError */
  async post(path: string, form: string, idempotencyKey?: string): Promise<Members> {
    const answer = await this.#connection.send({
      method: 'POST',
      url: `${this.#apiUrl}${path}`,
      headers: {
        authorization: this.#authorization,
        'content-type': 'application/x-www-form-urlencoded',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: form,
    })
    return this.#objectOf(answer)
  }

  /** The object; undefined where there is none. @throws ChannelError */
  async find(path: string): Promise<Members | undefined> {
    const answer = await this.#get(path)
    return answer.status === 404 ? undefined : this.#objectOf(answer)
  }

  /** The objects of a list, page by page, newest first. @throws ChannelError */
  async *list(path: string): AsyncGenerator<Members> {
    for (let after = ''; ;) {
      const page = this.#objectOf(await this.#get(`${path}&limit=100${after}`))
      const items = listOf(page['data']).map(objectMembers)
      yield* items
      const last = textOf(items.at(-1)?.['id'])
      if (page['has_more'] !== true) return
      if (last === undefined) throw unusableAnswer(this.name, 'a page with items')
      after = `&starting_after=${encodeURIComponent(last)}`
    }
  }

  end(): Promise<void> {
    return this.#connection.end()
  }

  #get(path: string): Promise<ProviderAnswer> {
    const url = `${this.#apiUrl}${path}`
    return this.#connection.send({ method: 'GET', url, headers: { authorization: this.#authorization } })
  }

  #objectOf({ status, headers, body }: ProviderAnswer): Members {
    const members = parseMembers(body.toString('utf8'))
    if (status === 200) {
      if (textOf(members['object']) === undefined) throw unusableAnswer(this.name, 'an object')
      return members
    }
    const error = objectMembers(members['error'])
    const code = codeOf(error['code']) ?? codeOf(error['type']) ?? String(status)
    const isReplayed = headers['idempotent-replayed'] === 'true' && status >= 500
    const outcome = isUnclear(status) || status === CONFLICT ? 'unclear' : 'refused'
    const message = `${this.name}: Stripe answered ${status} (${code})`
    throw new ChannelError(message, outcome, isReplayed ? REPLAYED : code)
  }
}

/** The state of a Checkout Session, also of one whose intent is expanded. */
export function toPayment(session: Members): ProviderPayment {
  const intent = objectMembers(session['payment_intent'])
  const status = statusOf(session, intent)
  const chargedAt = integerOf(objectMembers(intent['latest_charge'])['created'])
  const isPaid = status === 'paid'
  return {
    status,
    providerId: textOf(session['id']),
    amountCents: isPaid ? integerOf(session['amount_total']) : undefined,
    currency: isPaid ? textOf(session['currency'])?.toUpperCase() : undefined,
    paidAt: isPaid && chargedAt !== undefined ? chargedAt * SECOND : undefined,
    reason: status === 'failed' ? codeOf(objectMembers(intent['last_payment_error'])['code']) : undefined,
  }
}

// States of an intent whose session is complete: nothing more comes.
const ENDED_WITHOUT_MONEY: readonly unknown[] = ['requires_payment_method', 'canceled']

function statusOf(session: Members, intent: Members): ProviderPayment['status'] {
  if (session['payment_status'] === 'paid') return 'paid'
  if (session['status'] === 'expired') return 'closed'
  const isComplete = session['status'] === 'complete'
  return isComplete && ENDED_WITHOUT_MONEY.includes(intent['status']) ? 'failed' : 'open'
}

const REFUND_STATUSES: Readonly<Record<string, RefundState['status']>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
}

type RefundState = ProviderRefund & { readonly status: Exclude<ProviderRefund['status'], 'unknown'> }

/** The state of a refund. One that waits for the payer is pending. */
export function toRefund(refund: Members): RefundState {
  const status = REFUND_STATUSES[textOf(refund['status']) ?? ''] ?? 'pending'
  return { status, providerId: textOf(refund['id']), reason: codeOf(refund['failure_reason']) }
}

// https://docs.stripe.com/webhooks#verify-manually
const MAXIMUM_AGE_MS = 300 * SECOND
const HEADER = 'stripe-signature'

/**
 * Checks the signature of a callback: one of its signatures is of one of the secrets.
 *
 * @throws BadSignature
 */
export function verifySignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: number },
): void {
  const header = headers[HEADER]
  const { time, signatures } = parseHeader(typeof header === 'string' ? header : '')
  if (time === undefined || signatures.length === 0)
    throw new BadSignature(`${HEADER} is missing or malformed`)
  const expected = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${time}.`).update(body).digest(),
  )
  if (!signatures.some((signature) => expected.some((mac) => timingSafeEqual(mac, signature))))
    throw new BadSignature(`${HEADER} is not of a secret in STRIPE_WEBHOOK_SECRET`)
  if (now - Number(time) * SECOND > MAXIMUM_AGE_MS)
    throw new BadSignature(`${HEADER} is older than ${MAXIMUM_AGE_MS / SECOND} s`)
}

function parseHeader(header: string): { time: string | undefined; signatures: readonly Buffer[] } {
  const parts = header.split(',').map((part) => part.trim())
  const time = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2)
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
  return { time, signatures }
}
