import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import type { CHANNELS, PaymentShop } from './payment-shop.ts'

const CENTS = 4_990
const PARTS = [990, 4_000] as const
const PATIENCE = { timeoutMs: 180_000 }
const MOST_ATTEMPTS = 20
// Sixty customers who ask more often are a load of their own.
const ASK_EVERY_MS = 200

/** What a customer does, and the shop with the payment and the order. */
export const PLANS = ['pay', 'refund', 'close', 'close and pay', 'expire', 'expire and pay', 'leave'] as const

export interface Customer {
  readonly orderId: string
  readonly channel: (typeof CHANNELS)[number]
  readonly plan: (typeof PLANS)[number]
}

interface Payment {
  readonly id: string
  readonly number: string
  readonly status: string
  readonly refunded_cents: number
  readonly action?: object | null
}

/** An order with its payment; returns how many refunds of it were wanted. */
export async function serveCustomer(
  shop: PaymentShop,
  { orderId, channel: [channel, kind], plan }: Customer,
): Promise<number> {
  await send(shop, 'POST', '/orders', { order_id: orderId, platform: 'live', amount_cents: CENTS }, orderId)
  const payment = await takePayment(shop, orderId, channel)
  const { id, number } = payment
  const there = shop.mock.book.ofNumber(kind, number) ?? assert.fail(JSON.stringify(payment))
  const ending = plan.startsWith('close')
    ? closePayment(shop, id)
    : plan.startsWith('expire')
      ? endOrder(shop, orderId)
      : undefined
  // While the shop ends it, or alone.
  if (plan.endsWith('pay') || plan === 'refund') shop.mock.book.act(there, 'pay')
  await ending
  if (plan !== 'refund') return 0
  await waitFor(shop, id, async () => ((await get(shop, `/payments/${id}`)) as Payment).status === 'paid')
  for (const cents of PARTS) await refund(shop, id, cents)
  return PARTS.length
}

/** Takes another payment when the provider has refused one; each attempt has a key of its own. */
async function takePayment(shop: PaymentShop, orderId: string, channel: string): Promise<Payment> {
  const path = `/orders/${orderId}/payments`
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const key = `${orderId} payment ${attempt}`
    const payment = await eventually(
      `the outcome of ${key}`,
      async () => {
        const answer = (await send(shop, 'POST', path, { channel }, key)) as Payment
        return answer.status === 'creating' ? undefined : answer
      },
      PATIENCE,
    )
    if (payment.status !== 'failed') return payment
  }
  return assert.fail(`no payment of ${orderId}`)
}

async function closePayment(shop: PaymentShop, id: string): Promise<void> {
  await eventually(
    `an answer to the closing of ${id}`,
    // One that is paid meanwhile cannot be closed.
    () => attempt(shop, 'POST', `/payments/${id}/close`, undefined, undefined),
    PATIENCE,
  )
}

async function endOrder(shop: PaymentShop, orderId: string): Promise<void> {
  const move = { status: 'expired' }
  await eventually(
    `an answer to the end of ${orderId}`,
    // An order that is paid meanwhile does not expire.
    () => attempt(shop, 'PUT', `/orders/${orderId}`, move, undefined),
    PATIENCE,
  )
}

/** Asks for a refund until one has succeeded; one that has failed is asked for again, under another key. */
async function refund(shop: PaymentShop, id: string, cents: number): Promise<void> {
  const path = `/payments/${id}/refunds`
  for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
    const body = { amount_cents: cents, reason: 'broken' }
    const asked = (await send(shop, 'POST', path, body, `${id} ${cents} ${attempts}`)) as { id: string }
    const status = await waitFor(shop, asked.id, async () => {
      const { items } = (await get(shop, path)) as { items: { id: string; status: string }[] }
      const found = items.find((each) => each.id === asked.id)?.status
      return found === 'pending' ? undefined : found
    })
    if (status === 'succeeded') return
  }
  assert.fail(`no refund of ${cents} cents of ${id}`)
}

/** The outcome of a payment or refund. */
async function waitFor<T>(shop: PaymentShop, id: string, ask: () => Promise<T>) {
  shop.awaited.add(id)
  const outcome = await eventually(`the outcome of ${id}`, () => pause(ASK_EVERY_MS).then(ask), PATIENCE)
  shop.awaited.delete(id)
  return outcome
}

async function get(shop: PaymentShop, path: string): Promise<unknown> {
  const { status, text } = (await attempt(shop, 'GET', path, undefined, undefined)) ?? {}
  return status === 200 && text !== undefined ? JSON.parse(text) : assert.fail(`${path}: ${status}`)
}

/** A caller repeats its request under one key until there is an answer, at either api. */
async function send(shop: PaymentShop, method: string, path: string, body: unknown, key: string) {
  const { status, text } = await eventually(
    `an answer to ${key}`,
    () => attempt(shop, method, path, body, key),
    PATIENCE,
  )
  assert.ok(status < 300, `${path}: ${status} ${text}`)
  return JSON.parse(text) as unknown
}

let calls = 0

/** Undefined without an answer, or with one that asks for a repetition. */
async function attempt(
  { apis }: PaymentShop,
  method: string,
  path: string,
  body: unknown,
  key: string | undefined,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  const api = apis[calls++ % apis.length]
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const options = { headers, ...(body !== undefined && { body }) }
  const answer = await api?.call(method, path, options).catch(() => undefined)
  const text = await answer?.text().catch(() => undefined)
  if (!answer || text === undefined || answer.status >= 500 || answer.status === 429) return undefined
  return { status: answer.status, text }
}
