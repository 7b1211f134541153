import { open } from 'node:fs/promises'
import { ChannelError, type BillRow } from '../../../ports/payments.ts'
import { amountFault, parseCents } from '../../../kernel/cents.ts'
import { textOf } from '../json.ts'
import { linesOf } from '../lines.ts'
import { toNumber } from '../marks.ts'
import { unusableAnswer } from '../provider-connection.ts'
import type { AlipayApi } from './api.ts'
import { entryOf, type PackedFile } from './zip.ts'

const NO_BILL = ['isp.bill_not_exist', 'BILL_NOT_EXIST', 'isv.bill-not-exist']
const METHOD = 'alipay.data.dataservice.bill.downloadurl.query'
// A million rows have some 60 MB.
const MAXIMUM_BYTES = 128 * 1_024 ** 2

export async function readBill(api: AlipayApi, date: string): Promise<AsyncIterable<BillRow> | undefined> {
  const parameters = JSON.stringify({ bill_type: 'trade', bill_date: date })
  const answer = await api.find(METHOD, parameters, ...NO_BILL)
  if (answer === undefined) return undefined
  const url = textOf(answer['bill_download_url'])
  if (url === undefined || !URL.canParse(url)) throw unusableAnswer(api.name, 'bill_download_url')
  return rowsOfDownload(api, url)
}

/** The directory of a zip is its end, so the packed file is kept in memory; the rows are unpacked one by one. */
async function* rowsOfDownload(api: AlipayApi, url: string): AsyncGenerator<BillRow> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of api.download(url)) {
    size += chunk.length
    if (size > MAXIMUM_BYTES) throw damaged(api.name, `it has more than ${MAXIMUM_BYTES} bytes`)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks.splice(0), size)
  yield* rowsOfZip({ size, read: async (at, length) => bytes.subarray(at, at + length) }, api.name)
}

/** A bill as the provider gives it: the zip, or the detail file in it. */
export async function* rowsOfZipOrDetail(path: string, name: string): AsyncGenerator<BillRow> {
  await using file = await open(path)
  const { size } = await file.stat()
  const read: PackedFile['read'] = async (at, length) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
    return buffer.subarray(0, bytesRead)
  }
  const start = await read(0, 2)
  if (start.toString('latin1') === 'PK') yield* rowsOfZip({ size, read }, name)
  else yield* parseBill(linesOf(file.createReadStream({ start: 0, autoClose: false }), 'gbk'), name)
}

async function* rowsOfZip(file: PackedFile, name: string): AsyncGenerator<BillRow> {
  try {
    const detail = await entryOf(file, (entry) => entry.includes('明细') && !entry.includes('汇总'))
    yield* parseBill(linesOf(detail, 'gbk'), name)
  } catch (error) {
    if (error instanceof ChannelError) throw error
    throw damaged(name, error instanceof Error ? error.message : 'it cannot be unpacked', error)
  }
}

function damaged(name: string, why: string, cause?: unknown): ChannelError {
  return new ChannelError(`${name}: the bill is damaged: ${why}`, 'unclear', { code: 'damaged_bill', cause })
}

const COLUMNS = {
  id: '支付宝交易号',
  number: '商户订单号',
  type: '业务类型',
  amount: '订单金额（元）',
  refundNumber: '退款批次号/请求号',
} as const
type Column = keyof typeof COLUMNS

const REFUND = '退款'
const END = '业务明细列表结束'

/** Lines with `#` are comments; the last ones end the list. A bill without its end was cut off. */
async function* parseBill(pieces: AsyncIterable<readonly string[]>, name: string): AsyncGenerator<BillRow> {
  let indexes: Readonly<Record<Column, number>> | undefined
  let rows = 0
  let hasEnded = false
  for await (const lines of pieces)
    for (const line of lines) {
      if (line.startsWith('#')) hasEnded ||= line.includes(END)
      else if (indexes === undefined) indexes = columnsOf(parseCells(line), name)
      else {
        rows++
        const row = toRow(parseCells(line), indexes, () => damaged(name, amountFault(rows, COLUMNS.amount)))
        if (row) yield row
      }
    }
  if (!hasEnded) throw damaged(name, 'it has no end')
}

/** Tabs and blanks follow the cells. */
function parseCells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim())
}

function columnsOf(header: readonly string[], name: string): Readonly<Record<Column, number>> {
  const entries = Object.entries(COLUMNS).map(([key, title]) => {
    const index = header.indexOf(title)
    if (index < 0) throw damaged(name, `its header has no column ${title}`)
    return [key, index]
  })
  return Object.fromEntries(entries) as Readonly<Record<Column, number>>
}

/**
 * The row of a payment or refund of ours. Rows of others are left before their amounts are read: their free texts may have
 * commas, which ours have not.
 */
function toRow(
  cells: readonly string[],
  indexes: Readonly<Record<Column, number>>,
  noAmount: () => ChannelError,
): BillRow | undefined {
  const cell = (column: Column) => cells[indexes[column]] ?? ''
  if (toNumber(cell('number')) === undefined) return undefined
  const isRefund = cell('type') === REFUND
  const number = toNumber(cell(isRefund ? 'refundNumber' : 'number'))
  if (number === undefined) return undefined
  const amountCents = parseCents(cell('amount'))
  if (amountCents === undefined) throw noAmount()
  return {
    type: isRefund ? 'refund' : 'payment',
    number,
    providerId: cell('id') || undefined,
    status: 'succeeded',
    amountCents: isRefund ? Math.abs(amountCents) : amountCents,
  }
}
