import { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'

/** A file that is read in any order. */
export interface PackedFile {
  readonly size: number
  /** Fewer bytes only at the end of the file. */
  read(at: number, length: number): Promise<Buffer>
}

// APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16
const END = { signature: 0x06054b50, bytes: 22, maximumComment: 65_535 }
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
export async function entryOf(
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
  const tailBytes = Math.min(file.size, END.bytes + END.maximumComment)
  const tail = await file.read(file.size - tailBytes, tailBytes)
  let at = tail.length - END.bytes
  while (at >= 0 && tail.readUInt32LE(at) !== END.signature) at--
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
