import { Type } from 'typebox'
import { bodyWriter } from '../../wire/codec.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { htmlPage } from '../../wire/html-page.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../wire/page.ts'
import { bodyOf, created, ok, type Answer, type Route, routeOf } from '../../wire/route.ts'
import { Fields, IdParams, Text } from '../../wire/schemas.ts'
import {
  Channel,
  encodeNewPayment,
  encodePayment,
  encodePaymentHistory,
  encodeRefund,
  NewPaymentBody,
  NewPaymentSchema,
  NewRefundBody,
  PaymentHistory,
  PaymentQuery,
  PaymentSchema,
  RefundSchema,
  ResolveBody,
} from './schemas.ts'
import type { Payments } from './service.ts'
import type { PaymentRow } from './store.ts'

const route = routeOf('Payments')

/** Who may read payments and their events: those who may read orders. */
export const PAYMENT_READERS = ['admin', 'service', 'devops'] as const
const WRITERS = ['admin', 'service'] as const
const ADMIN = ['admin'] as const

// docs/specification.md, Payments
const MAX_CALLBACK_BYTES = 65_536

export const PAYMENT_ERRORS = {
  amount_not_payable: { status: 400, meaning: 'The provider takes no payment of this amount.' },
  bad_signature: { status: 401, meaning: 'The callback is not of the provider, or too old.' },
  channel_not_found: { status: 404, meaning: 'The configuration has no payment channel of this name.' },
  nothing_to_resolve: { status: 409, meaning: 'Nothing of the payment needs a person.' },
  payment_not_found: { status: 404, meaning: 'There is no such payment.' },
  reconciliation_not_found: { status: 404, meaning: 'There is no such reconciliation.' },
  reconciliation_running: { status: 409, meaning: 'Another reconciliation of the channel is running.' },
  refund_too_large: { status: 409, meaning: 'More is to be refunded than is left of the payment.' },
} as const satisfies ErrorCodes

const {
  amount_not_payable,
  bad_signature,
  channel_not_found,
  nothing_to_resolve,
  payment_not_found,
  refund_too_large,
} = PAYMENT_ERRORS
const { invalid_transition } = SHARED_ERRORS
// The code is that of the orders; so are its status and its meaning.
const order_not_found = { status: 404, meaning: 'There is no such order.' }

const PAYMENT_PAGE = { 200: { description: 'A page of payments.', schema: PageOf(PaymentSchema) } }
const paymentText = bodyWriter(encodePayment)
const newPaymentText = bodyWriter(encodeNewPayment)
const historyText = bodyWriter(encodePaymentHistory)
const refundText = bodyWriter(encodeRefund)

const OrderParams = Fields({ order_id: Text({ minLength: 1, maxLength: 1_024 }) })

// A payer who has given up comes here too, and one whose money has not arrived yet.
const DONE_PAGE = htmlPage(
  200,
  'Back from the payment',
  `<h1>Thank you. You can close this page.</h1>
<p>The shop is told by the payment provider. If you have not paid, go back to the shop and pay there.</p>
<div lang="zh"><h2>谢谢，您可以关闭此页面。</h2>
<p>付款结果由支付机构通知商家。如果尚未付款，请回到商家页面继续付款。</p></div>`,
)

/** docs/specification.md, HTTP API */
export function paymentRoutes(payments: Payments): Route[] {
  /** The payment after its call to the provider, which follows the commit. */
  const completePayment = async (answer: Answer): Promise<Answer> => {
    const payment = await payments.complete(idOf(answer))
    return newPaymentAnswer(payment.status === 'creating' ? 202 : answer.status, payment)
  }
  return [
    route({
      method: 'POST',
      path: '/orders/:order_id/payments',
      operation: 'createPayment',
      summary: 'Take a payment for an order',
      description:
        'The answer says what the payer does. While a payment of the order on the channel is open, the answer is that one.',
      access: WRITERS,
      params: OrderParams,
      body: NewPaymentBody,
      answers: {
        201: { description: 'The new payment.', schema: NewPaymentSchema },
        200: { description: 'An unfinished payment of this order and channel.', schema: NewPaymentSchema },
        202: { description: 'The provider has not answered yet; ask again.', schema: NewPaymentSchema },
      },
      errors: { order_not_found, channel_not_found, invalid_transition, amount_not_payable },
      change: async (tx, { params, body, identity }) => {
        const wanted = { orderId: params.order_id, channel: body.channel, returnUrl: body.return_url }
        const { payment, outcome } = await payments.create(tx, wanted, identity.id)
        return newPaymentAnswer(outcome === 'created' ? 201 : 200, payment)
      },
      updateAnswer: completePayment,
    }),
    route({
      method: 'GET',
      path: '/orders/:order_id/payments',
      operation: 'listPaymentsOfOrder',
      summary: 'List the payments of an order, newest first',
      access: PAYMENT_READERS,
      params: OrderParams,
      query: TimedQuery,
      answers: PAYMENT_PAGE,
      errors: { order_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await payments.listOfOrder(params.order_id, parsePage(query)), encodePayment)),
    }),
    route({
      method: 'GET',
      path: '/payments',
      operation: 'listPayments',
      summary: 'List payments, newest first',
      access: PAYMENT_READERS,
      query: PaymentQuery,
      answers: PAYMENT_PAGE,
      read: async ({ query }) =>
        ok(
          encodePage(
            await payments.list({ ...query, orderId: query.order_id }, parsePage(query)),
            encodePayment,
          ),
        ),
    }),
    route({
      method: 'GET',
      path: '/payments/:id',
      operation: 'getPayment',
      summary: 'Read one payment',
      access: PAYMENT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The payment.', schema: PaymentSchema } },
      errors: { payment_not_found },
      read: async ({ params }) => ok(paymentText(await payments.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/payments/:id/history',
      operation: 'getPaymentHistory',
      summary: 'Everything that has happened to one payment, oldest first',
      access: PAYMENT_READERS,
      params: IdParams,
      answers: { 200: { description: 'The first 1,000 changes.', schema: PaymentHistory } },
      errors: { payment_not_found },
      read: async ({ params }) => ok(historyText({ items: await payments.history(params.id) })),
    }),
    route({
      method: 'POST',
      path: '/payments/:id/close',
      operation: 'closePayment',
      summary: 'Close an open payment, at the provider too',
      description:
        'If the payer was faster, the answer is the paid payment; if the provider does not answer, the open one.',
      access: WRITERS,
      params: IdParams,
      answers: { 200: { description: 'The payment as it is now.', schema: PaymentSchema } },
      errors: { payment_not_found, invalid_transition },
      // The payment changes by the answer of the provider, after the transaction.
      audit: { kind: 'payment' },
      change: async (tx, { params, identity }) =>
        ok(paymentText(await payments.requestClose(tx, params.id, identity.id))),
      updateAnswer: async (answer) => ok(paymentText(await payments.close(idOf(answer)))),
    }),
    route({
      method: 'POST',
      path: '/payments/:id/refunds',
      operation: 'createRefund',
      summary: 'Refund a payment, in part or all that is left',
      description: 'Send an `Idempotency-Key`: without one, a repeated request is another refund.',
      access: ADMIN,
      params: IdParams,
      body: NewRefundBody,
      answers: { 202: { description: 'The refund, pending.', schema: RefundSchema } },
      errors: { payment_not_found, invalid_transition, refund_too_large },
      audit: { kind: 'payment' },
      change: async (tx, { params, body, identity }) => {
        const { amount_cents: amountCents, reason } = body
        const refund = await payments.refunds.create(tx, params.id, { amountCents, reason }, identity.id)
        return { status: 202, body: refundText(refund) }
      },
    }),
    route({
      method: 'GET',
      path: '/payments/:id/refunds',
      operation: 'listRefunds',
      summary: 'List the refunds of a payment, newest first',
      access: PAYMENT_READERS,
      params: IdParams,
      query: TimedQuery,
      answers: { 200: { description: 'A page of refunds.', schema: PageOf(RefundSchema) } },
      errors: { payment_not_found },
      read: async ({ params, query }) =>
        ok(encodePage(await payments.refunds.list(params.id, parsePage(query)), encodeRefund)),
    }),
    route({
      method: 'POST',
      path: '/payments/:id/resolve',
      operation: 'resolvePayment',
      summary: 'End what needs a person of a payment',
      access: ADMIN,
      params: IdParams,
      body: ResolveBody,
      answers: { 200: { description: 'The payment, without `attention`.', schema: PaymentSchema } },
      errors: { payment_not_found, nothing_to_resolve },
      audit: {
        kind: 'payment',
        before: async (tx, { params }) => paymentText(await payments.get(params.id, tx)),
      },
      change: async (tx, { params, body, identity }) =>
        ok(paymentText(await payments.resolve(tx, params.id, body.note, identity.id))),
    }),
    route({
      method: 'GET',
      path: '/payments/done',
      operation: 'showPaymentDone',
      summary: 'The page to which a provider leads a payer back',
      description: 'Shown if the payment has no `return_url`. It says nothing about the payment.',
      access: 'public',
      // A provider may add parameters.
      query: Type.Object({}),
      answers: { 200: { description: 'The page.', schema: Type.String(), contentType: 'text/html' } },
      read: async () => DONE_PAGE,
    }),
    route({
      method: 'POST',
      path: '/payments/callbacks/:channel',
      operation: 'receivePaymentCallback',
      summary: 'Take a callback of a payment provider',
      description: 'The body and the answer have the form of the provider. It is verified on its raw bytes.',
      access: 'public',
      params: Fields({ channel: Channel }),
      takesRawBody: true,
      maxBodyBytes: MAX_CALLBACK_BYTES,
      answers: {
        200: { description: 'It is recorded; in the language of the provider.', contentType: 'text/plain' },
      },
      errors: { channel_not_found, bad_signature },
      prepare: ({ params, headers, body }) =>
        payments.callbacks.verify(params.channel, headers, body as Buffer),
      change: async (tx, { params }, callback) => {
        const { status, contentType, body } = await payments.callbacks.receive(tx, params.channel, callback)
        return body === ''
          ? { status }
          : { status, body, headers: { 'content-type': contentType ?? 'text/plain; charset=utf-8' } }
      },
    }),
  ]
}

function idOf(answer: Answer): string {
  return (bodyOf(answer) as { id: string }).id
}

function newPaymentAnswer(status: number, payment: PaymentRow): Answer {
  const body = newPaymentText(payment)
  return status === 201 ? created('/payments', payment.id, body) : { status, body }
}
