import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ChannelError, type BillRow } from '../../../ports/payments.ts'
import { cellsByTitle, linesOf, requireCents, type CellOf } from '../bills.ts'
import { textOf, toNumber } from '../fields.ts'
import { unusableAnswer } from '../provider-connection.ts'
import type { WechatPayApi } from './api.ts'

/** The codes for a day without a bill: nothing happened on it, or the bill is not made yet. */
const NO_BILL = ['NO_STATEMENT_EXIST', 'STATEMENT_CREATING']

export async function readTradeBill(
  api: WechatPayApi,
  date: string,
): Promise<AsyncIterable<BillRow> | undefined> {
  const path = `/v3/bill/tradebill?bill_date=${date}&bill_type=ALL&tar_type=GZIP`
  const answer = await api.find(path, NO_BILL)
  if (answer === undefined) return undefined
  const [url, sha1] = [textOf(answer['download_url']), textOf(answer['hash_value'])]
  if (url === undefined || sha1 === undefined || !URL.canParse(url))
    throw unusableAnswer(api.name, 'download_url and hash_value')
  return rowsOfPackedBill(api.download(url), api.name, sha1)
}

const GZIP = 0x1f

/** A bill as the provider gives it, packed or not. */
export function rowsOfTradeBill(file: string, name: string): AsyncGenerator<BillRow> {
  return parseBill(linesOf(unpackedFile(file, name), 'utf-8'), name)
}

async function* unpackedFile(file: string, name: string): AsyncGenerator<Uint8Array> {
  let first = 0
  for await (const chunk of createReadStream(file, { end: 0 })) first = (chunk as Buffer)[0] ?? 0
  const content = createReadStream(file)
  yield* first === GZIP ? gunzip(content, name) : content
}

/**
 * The rows of ours in a packed bill; `sha1` is the hash of the unpacked one. A bill that is damaged or cut off ends with an
 * error after its rows.
 */
export function rowsOfPackedBill(
  file: AsyncIterable<Uint8Array>,
  name: string,
  sha1: string,
): AsyncGenerator<BillRow> {
  return parseBill(linesOf(verifyHash(gunzip(file, name), name, sha1), 'utf-8'), name)
}

async function* verifyHash(chunks: AsyncIterable<Uint8Array>, name: string, sha1: string) {
  const hash = createHash('sha1')
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== sha1.toLowerCase())
    throw damaged(name, 'its SHA-1 is not the one that WeChat Pay gave')
}

async function* gunzip(file: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const unpacked = createGunzip()
  // The loop below throws the error of either side, because a pipeline passes it on.
  pipeline(file, unpacked, () => undefined)
  try {
    for await (const chunk of unpacked) yield chunk as Buffer
  } catch (error) {
    throw error instanceof ChannelError ? error : damaged(name, 'it cannot be unpacked')
  }
}

function damaged(name: string, why: string): ChannelError {
  return new ChannelError(`${name}: the trade bill is damaged: ${why}`, 'unclear', 'damaged_bill')
}

/** A backtick stands before each cell, so that spreadsheets do not change numbers; a free text may have a comma. */
function parseCells(line: string): string[] {
  return line.startsWith('`') ? line.slice(1).split(',`') : line.replace(/^\uFEFF/, '').split(',')
}

const COLUMNS = {
  number: '商户订单号',
  id: '微信订单号',
  state: '交易状态',
  amount: '订单金额',
  refundNumber: '商户退款单号',
  refundId: '微信退款单号',
  refundAmount: '申请退款金额',
  refundState: '退款状态',
} as const

async function* parseBill(pieces: AsyncIterable<readonly string[]>, name: string): AsyncGenerator<BillRow> {
  const fail = (reason: string) => damaged(name, reason)
  let cellsOf: ReturnType<typeof cellsByTitle<keyof typeof COLUMNS>> | undefined
  let rows = 0
  let total: number | undefined
  let isInTotals = false
  for await (const lines of pieces)
    for (const line of lines) {
      if (cellsOf === undefined) {
        const noColumn = (title: string) => fail(`its header has no column ${title}`)
        cellsOf = cellsByTitle(COLUMNS, parseCells(line), noColumn)
      } else if (isInTotals) {
        total ??= Number(parseCells(line)[0])
      } else if (!line.startsWith('`')) {
        // The names of the totals: the last line has their values, first the number of rows.
        isInTotals = true
      } else {
        rows++
        const row = toRow(cellsOf(parseCells(line)), (cell, title) => requireCents(cell, rows, title, fail))
        if (row) yield row
      }
    }
  if (rows !== total) throw fail(`it has ${rows} rows, and its totals are of ${total ?? 'none'}`)
}

const REFUND_STATUSES: Readonly<Record<string, BillRow['status']>> = {
  SUCCESS: 'succeeded',
  PROCESSING: 'pending',
  FAIL: 'failed',
  CLOSED: 'failed',
}

function toRow(
  cell: CellOf<keyof typeof COLUMNS>,
  toCents: (cell: string, title: string) => number,
): BillRow | undefined {
  const isRefund = cell('state') === 'REFUND' || cell('state') === 'REVOKED'
  const number = toNumber(cell(isRefund ? 'refundNumber' : 'number'))
  if (number === undefined) return undefined
  const amount = isRefund ? 'refundAmount' : 'amount'
  return {
    type: isRefund ? 'refund' : 'payment',
    number,
    providerId: cell(isRefund ? 'refundId' : 'id') || undefined,
    status: isRefund ? (REFUND_STATUSES[cell('refundState')] ?? 'pending') : 'succeeded',
    amountCents: toCents(cell(amount), COLUMNS[amount]),
  }
}
