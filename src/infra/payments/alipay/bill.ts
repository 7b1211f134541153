import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { ChannelError, type BillRow } from '../../../ports/payments.ts'
import { cellsByTitle, linesOf, requireCents, type CellOf } from '../bills.ts'
import { textOf, toNumber } from '../fields.ts'
import { unusableAnswer } from '../provider-connection.ts'
import type { AlipayApi } from './api.ts'

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
    if (size > MAXIMUM_BYTES) throw damagedBill(api.name, `it has more than ${MAXIMUM_BYTES} bytes`)
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
    throw damagedBill(name, error instanceof Error ? error.message : 'it cannot be unpacked', error)
  }
}

function damagedBill(name: string, why: string, cause?: unknown): ChannelError {
  return new ChannelError(`${name}: the bill is damaged: ${why}`, 'unclear', 'damaged_bill', cause)
}

const COLUMNS = {
  id: '支付宝交易号',
  number: '商户订单号',
  type: '业务类型',
  amount: '订单金额（元）',
  refundNumber: '退款批次号/请求号',
} as const

const REFUND = '退款'
const END = '业务明细列表结束'

/** Lines with `#` are comments; the last ones end the list. A bill without its end was cut off. */
async function* parseBill(pieces: AsyncIterable<readonly string[]>, name: string): AsyncGenerator<BillRow> {
  let cellsOf: ReturnType<typeof cellsByTitle<keyof typeof COLUMNS>> | undefined
  const fail = (reason: string) => damagedBill(name, reason)
  const noColumn = (title: string) => fail(`its header has no column ${title}`)
  let rows = 0
  let hasEnded = false
  for await (const lines of pieces)
    for (const line of lines) {
      if (line.startsWith('#')) hasEnded ||= line.includes(END)
      else if (cellsOf === undefined) cellsOf = cellsByTitle(COLUMNS, parseCells(line), noColumn)
      else {
        rows++
        const row = toRow(cellsOf(parseCells(line)), (cell) => requireCents(cell, rows, COLUMNS.amount, fail))
        if (row) yield row
      }
    }
  if (!hasEnded) throw damagedBill(name, 'it has no end')
}

/** Tabs and blanks follow the cells. */
function parseCells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim())
}

/**
 * The row of a payment or refund of ours. Rows of others are left before their amounts are read: their free texts may have
 * commas, which ours have not.
 */
function toRow(cell: CellOf<keyof typeof COLUMNS>, toCents: (cell: string) => number): BillRow | undefined {
  if (toNumber(cell('number')) === undefined) return undefined
  const isRefund = cell('type') === REFUND
  const number = toNumber(cell(isRefund ? 'refundNumber' : 'number'))
  if (number === undefined) return undefined
  const amountCents = toCents(cell('amount'))
  return {
    type: isRefund ? 'refund' : 'payment',
    number,
    providerId: cell('id') || undefined,
    status: 'succeeded',
    amountCents: isRefund ? Math.abs(amountCents) : amountCents,
  }
}

/** A file that is read in any order. */
interface PackedFile {
  readonly size: number
  /** Fewer bytes only at the end of the file. */
  read(at: number, length: number): Promise<Buffer>
}

// APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16
const DIRECTORY_END = { signature: 0x06054b50, bytes: 22, maximumComment: 65_535 }
const ENTRY = { signature: 0x02014b50, bytes: 46 }
const LOCAL = { signature: 0x04034b50, bytes: 30 }
const STORED = 0
const DEFLATED = 8
const UTF8_NAME = 0x800
const PIECE_BYTES = 65_536

interface Entry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly offset: number
}

/**
 * The content of the first entry with such a name, piece by piece; its checksum is compared at its end. Without
 * encryption and zip64. Names without the mark of UTF-8 are GBK.
 */
async function entryOf(
  file: PackedFile,
  isWanted: (name: string) => boolean,
): Promise<AsyncIterable<Uint8Array>> {
  const entry = (await readDirectory(file)).find(({ name }) => isWanted(name))
  if (!entry) throw new Error('the zip has no file of that kind')
  const local = await file.read(entry.offset, LOCAL.bytes)
  if (local.length < LOCAL.bytes || local.readUInt32LE(0) !== LOCAL.signature)
    throw new Error('an entry of the zip is not where its directory says')
  const start = entry.offset + LOCAL.bytes + local.readUInt16LE(26) + local.readUInt16LE(28)
  return verifyContent(unpackContent(file, entry, start), entry)
}

async function readDirectory(file: PackedFile): Promise<Entry[]> {
  const tailBytes = Math.min(file.size, DIRECTORY_END.bytes + DIRECTORY_END.maximumComment)
  const tail = await file.read(file.size - tailBytes, tailBytes)
  let at = tail.length - DIRECTORY_END.bytes
  while (at >= 0 && tail.readUInt32LE(at) !== DIRECTORY_END.signature) at--
  if (at < 0) throw new Error('it is no zip, or was cut off')
  const count = tail.readUInt16LE(at + 10)
  const directory = await file.read(tail.readUInt32LE(at + 16), tail.readUInt32LE(at + 12))
  return parseDirectory(directory, count)
}

function parseDirectory(directory: Buffer, count: number): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; entries.length < count;) {
    if (at + ENTRY.bytes > directory.length || directory.readUInt32LE(at) !== ENTRY.signature)
      throw new Error('the directory of the zip is damaged')
    const nameEnd = at + ENTRY.bytes + directory.readUInt16LE(at + 28)
    const isUtf8 = (directory.readUInt16LE(at + 8) & UTF8_NAME) !== 0
    entries.push({
      name: new TextDecoder(isUtf8 ? 'utf-8' : 'gbk').decode(directory.subarray(at + ENTRY.bytes, nameEnd)),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    })
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return entries
}

async function* unpackContent(
  file: PackedFile,
  { method, packedBytes }: Entry,
  start: number,
): AsyncGenerator<Uint8Array> {
  const packed = pieces(file, start, packedBytes)
  if (method === STORED) return yield* packed
  if (method !== DEFLATED) throw new Error(`the zip is packed by the method ${method}`)
  const source = Readable.from(packed)
  const inflate = createInflateRaw()
  source.on('error', (error) => inflate.destroy(error)).pipe(inflate)
  for await (const chunk of inflate) yield chunk as Buffer
}

async function* pieces(file: PackedFile, start: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < start + bytes;) {
    const piece = await file.read(at, Math.min(PIECE_BYTES, start + bytes - at))
    if (piece.length === 0) throw new Error('the zip was cut off')
    at += piece.length
    yield piece
  }
}

async function* verifyContent(
  content: AsyncIterable<Uint8Array>,
  { crc }: Entry,
): AsyncGenerator<Uint8Array> {
  let sum = 0
  for await (const chunk of content) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== crc) throw new Error('the checksum of an entry of the zip is wrong')
}
