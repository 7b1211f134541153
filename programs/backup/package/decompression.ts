import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ByteReader } from './byte-reader.ts'

// RFC 8878, section 3.1
const ZSTD_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const MAX_BLOCK_BYTES = 128 * 1_024
const OUTPUT_BYTES = 256 * 1_024

const GZIP_MAGIC = 0x8b1f

/** The content of a zstd or gzip file, which its first bytes tell apart. */
export async function* decompressChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = new ByteReader(chunks)
  try {
    const start = await reader.read(4)
    if (start.readUInt16LE() === GZIP_MAGIC) yield* gunzip(start, reader)
    else yield* zstdContent(start, reader)
  } finally {
    await reader.close()
  }
}

function gunzip(start: Uint8Array, reader: ByteReader): AsyncIterable<Uint8Array> {
  async function* whole() {
    yield start
    while (!(await reader.isAtEnd())) yield await reader.readUpTo(OUTPUT_BYTES)
  }
  return pipeThrough(whole(), createGunzip({ chunkSize: OUTPUT_BYTES }))
}

/** Frame by frame: a stream of node:zlib ends after the first one (nodejs/node issue 64741). */
async function* zstdContent(start: Buffer, reader: ByteReader): AsyncIterable<Uint8Array> {
  for (let magic: Buffer | undefined = start; magic; magic = await nextMagic(reader)) {
    const number = magic.readUInt32LE()
    if (number === ZSTD_MAGIC)
      yield* pipeThrough(frame(magic, reader), createZstdDecompress({ chunkSize: OUTPUT_BYTES }))
    else if ((number & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC)
      await reader.skip((await reader.read(4)).readUInt32LE())
    else throw new Error('it is neither zstd nor gzip')
  }
}

async function nextMagic(reader: ByteReader): Promise<Buffer | undefined> {
  return (await reader.isAtEnd()) ? undefined : reader.read(4)
}

const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]

/** The bytes of one frame, up to its last block. */
async function* frame(magic: Buffer, reader: ByteReader): AsyncIterable<Uint8Array> {
  const descriptor = await reader.read(1)
  const flags = descriptor.readUInt8()
  const isSingleSegment = (flags & 0x20) !== 0
  const sizeBytes = CONTENT_SIZE_BYTES[flags >> 6] || (isSingleSegment ? 1 : 0)
  const rest = (isSingleSegment ? 0 : 1) + (DICTIONARY_ID_BYTES[flags & 3] ?? 0) + sizeBytes
  yield Buffer.concat([magic, descriptor, await reader.read(rest)])
  for (let isLast = false; !isLast;) {
    const header = await reader.read(3)
    const value = header.readUIntLE(0, 3)
    isLast = (value & 1) === 1
    const isRepeatedByte = ((value >> 1) & 3) === 1
    const size = isRepeatedByte ? 1 : value >> 3
    if (size > MAX_BLOCK_BYTES) throw new Error('a block of the zstd file is too large')
    yield header
    yield await reader.read(size)
  }
  if ((flags & 4) !== 0) yield await reader.read(4)
}

async function* pipeThrough(
  chunks: AsyncIterable<Uint8Array>,
  decompress: NodeJS.ReadWriteStream & AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const fed = pipeline(Readable.from(chunks, { objectMode: false }), decompress)
  // The loop throws the same error.
  fed.catch(() => undefined)
  for await (const chunk of decompress) yield chunk
  await fed
}
