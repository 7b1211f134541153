import { createReadStream } from 'node:fs'
import { SECOND } from '../../../kernel/time.ts'
import { ChannelError, type BillRow } from '../../../ports/payments.ts'
import { cellsByTitle, linesOf, requireCents, type CellOf } from '../bills.ts'
import { integerOf, objectMembers, textOf, type Members, toNumber } from '../fields.ts'
import { unusableAnswer } from '../provider-connection.ts'
import { type StripeApi, toRefund } from './api.ts'

// The types of balance transactions. https://docs.stripe.com/reports/balance-transaction-types
const TYPES: Readonly<Record<string, BillRow['type']>> = {
  charge: 'payment',
  payment: 'payment',
  refund: 'refund',
  payment_refund: 'refund',
}

/** The balance transactions of a day. */
export async function* balanceRows(api: StripeApi, date: string, timeZone: string): AsyncGenerator<BillRow> {
  const day = Temporal.PlainDate.from(date)
  const [from, until] = [day, day.add({ days: 1 })].map(
    (start) => start.toZonedDateTime({ timeZone }).epochMilliseconds / SECOND,
  )
  const range = `created[gte]=${from}&created[lt]=${until}`
  for await (const transaction of api.list(`/v1/balance_transactions?${range}&expand[]=data.source`)) {
    const row = toRow(transaction, api.name)
    if (row) yield row
  }
}

/** The amount is that of the charge; the amount of the transaction is in the currency of the account. */
function toRow(transaction: Members, name: string): BillRow | undefined {
  const type = TYPES[textOf(transaction['type']) ?? '']
  const source = objectMembers(transaction['source'])
  const number = toNumber(objectMembers(source['metadata'])[MARKS[type ?? 'payment']])
  if (type === undefined || number === undefined) return undefined
  const amountCents = integerOf(source['amount'])
  if (amountCents === undefined) throw unusableAnswer(name, `the amount of the source of ${number}`)
  return { type, number, providerId: textOf(source['id']), status: toRefund(source).status, amountCents }
}

const MARKS = { payment: 'platform_payment', refund: 'platform_refund' } as const

const COLUMNS = {
  category: 'reporting_category',
  amount: 'customer_facing_amount',
  payment: 'payment_metadata[platform_payment]',
  refund: 'refund_metadata[platform_refund]',
  charge: 'charge_id',
  source: 'source_id',
} as const

// A quotation mark that nothing closes must not take the rest of the file into one record.
const LONGEST_RECORD = 65_536

/** The rows of the itemized report "balance change from activity" as CSV, with the metadata of this platform as columns. */
export async function* reportRows(file: string, name: string): AsyncGenerator<BillRow> {
  const fail = (reason: string) => new ChannelError(`${name}: ${reason}`, 'refused', 'unusable_file')
  const noColumn = (title: string) =>
    fail(
      `expected the column ${title} in the file; download the itemized report "balance change from activity" with it`,
    )
  let cellsOf: ReturnType<typeof cellsByTitle<keyof typeof COLUMNS>> | undefined
  let record = ''
  let rows = 0
  for await (const lines of linesOf(createReadStream(file), 'utf-8'))
    for (const line of lines) {
      record = record === '' ? line : `${record}\n${line}`
      // A description may have line breaks.
      if ((record.match(/"/g)?.length ?? 0) % 2 === 1 && record.length < LONGEST_RECORD) continue
      const cells = parseQuotedCells(record)
      record = ''
      if (cellsOf === undefined) cellsOf = cellsByTitle(COLUMNS, cells, noColumn, ['charge', 'source'])
      else {
        rows++
        const row = toReportRow(cellsOf(cells), (cell) => requireCents(cell, rows, COLUMNS.amount, fail))
        if (row) yield row
      }
    }
}

function toReportRow(
  cell: CellOf<keyof typeof COLUMNS>,
  toCents: (cell: string) => number,
): BillRow | undefined {
  const category = cell('category')
  if (category !== 'charge' && category !== 'refund') return undefined
  const type = category === 'charge' ? 'payment' : 'refund'
  const number = toNumber(cell(type))
  if (number === undefined) return undefined
  const amountCents = Math.abs(toCents(cell('amount')))
  const providerId = textOf(cell(type === 'payment' ? 'charge' : 'source'))
  return { type, number, providerId, status: 'succeeded', amountCents }
}

/** The cells of a record. RFC 4180 */
function parseQuotedCells(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
}
