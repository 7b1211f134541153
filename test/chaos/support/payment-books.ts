import assert from 'node:assert/strict'
import type { MockPayment } from '../../../programs/mock-pay/book.ts'
import { eventually } from '../../support/eventually.ts'
import type { Row } from './engine.ts'
import type { PaymentShop } from './payment-shop.ts'
import type { Figures } from './scenario.ts'

const PATIENCE = { timeoutMs: 300_000 }

const UNSETTLED = `select
  (select count(*) from payments where status = 'creating' or (status = 'open' and is_closing = 1)) +
  (select count(*) from payment_refunds where status = 'pending')`

interface BookedPayment extends Row {
  readonly number: string
  readonly status: string
  readonly attention: string | null
  readonly order_id: string
  readonly order_status: string
}

/** Waits until nothing is under way, and all money of the providers is known here. */
export async function settle({ engine, mock }: PaymentShop): Promise<void> {
  await eventually('nothing is unclear', async () => (await engine.count(UNSETTLED)) === 0, PATIENCE)
  const paidHere = `select count(*) from payments where status = 'paid'`
  const paidThere = () => mock.book.payments().filter(isPaid).length
  await eventually(
    'the money of the providers is known',
    async () => (await engine.count(paidHere)) === paidThere(),
    PATIENCE,
  )
}

const isPaid = ({ paidAt }: MockPayment) => paidAt !== undefined

/** Compares the books of the providers with the database, and requires that they agree. */
export async function requireBooks({ engine, mock }: PaymentShop, wantedRefunds: number): Promise<Figures> {
  const there = mock.book.payments()
  const here = (await engine.rows(
    `select p.number, p.status, p.attention, o.order_id, o.status as order_status
      from payments p join orders o on o.order_id = p.order_id`,
  )) as BookedPayment[]
  const paid = here.filter(({ status }) => status === 'paid')
  const [numbersHere, numbersThere] = [paid, there.filter(isPaid)].map(
    (each) => new Set(each.map(({ number }) => number)),
  ) as [Set<string>, Set<string>]
  const honoured = paid.filter(({ attention }) => attention === null)
  const ordersPaid = await engine.count(`select count(*) from orders where status = 'paid'`)
  const paidEvents = `select count(*) from messages where subject = 'payment.paid'`
  const faults = {
    lost: numbersThere.difference(numbersHere).size,
    'paid here alone': numbersHere.difference(numbersThere).size,
    'taken twice': honoured.length - new Set(honoured.map(({ order_id: id }) => id)).size,
    'orders paid without money': ordersPaid - honoured.filter(isOrderPaid).length,
    'money without a paid order': honoured.filter((each) => !isOrderPaid(each)).length,
    'events missing or twice': Math.abs((await engine.count(paidEvents)) - paid.length),
  }
  for (const [name, count] of Object.entries(faults)) assert.equal(count, 0, name)
  const refunds = await requireRefunds({ engine, mock }, wantedRefunds)
  const late = paid.length - honoured.length
  return {
    orders: new Set(here.map(({ order_id: id }) => id)).size,
    payments: here.length,
    paid: paid.length,
    late,
    ...refunds,
    ...faults,
  }
}

const isOrderPaid = ({ order_status: status }: Row) => status === 'paid'

/** Each refund that was wanted is made once, under its number and with its cents. */
async function requireRefunds({ engine, mock }: Pick<PaymentShop, 'engine' | 'mock'>, wanted: number) {
  const rows = await engine.rows(
    `select number, amount_cents from payment_refunds where status = 'succeeded' order by number`,
  )
  const here = rows.map(({ number, amount_cents: cents }) => `${String(number)} ${Number(cents)}`)
  const there = mock.book
    .payments()
    .flatMap(({ refunds }) => refunds.map(({ number, amountCents }) => `${number} ${amountCents}`))
  assert.deepEqual(there.toSorted(), here)
  assert.equal(here.length, wanted, 'each refund that was wanted')
  return { 'refunds wanted': wanted, 'refunds made': there.length }
}

/** The days of Beijing on which something was paid or refunded. */
export function daysOf({ book }: PaymentShop['mock']): string[] {
  const times = book
    .payments()
    .flatMap(({ paidAt, refunds }) => [paidAt ?? 0, ...refunds.map(({ createdAt }) => createdAt)])
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' })
  return [...new Set(times.filter((at) => at > 0).map((at) => format.format(at)))]
}
