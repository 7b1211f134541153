import { availableParallelism } from 'node:os'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createGzip, zstdCompress } from 'node:zlib'

const compress = promisify(zstdCompress)

// Frames are compressed independently: with frames of 1 MiB the result is a tenth larger, with 4 MiB a hundredth.
const BLOCK_BYTES = 4 * 1_024 ** 2
// One more than there are processors, so that no processor waits for the writer.
const MAX_PENDING = availableParallelism() + 1
// Level 3, the default of the command, takes twice the processor time: logs become no smaller by it, databases by 6 %.
const LEVEL = 1
const OPTIONS = {
  chunkSize: 1_024 ** 2,
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
}

/**
 * Compresses each block to a separate zstd frame, on the thread pool. A chunk may be reused for the next. Concatenated frames
 * are a valid zstd file (RFC 8878, section 3); node:zlib cannot use several threads for one frame.
 */
export async function* zstdFrames(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const pending: PendingFrame[] = []
  // Buffers are used again: the garbage of new ones would be most of the memory of the process.
  const free: Buffer[] = []
  const next = async (): Promise<Uint8Array> => {
    const { frame, block } = pending.shift() as PendingFrame
    const compressed = await frame
    if (block.length === BLOCK_BYTES) free.push(block)
    return compressed
  }
  try {
    for await (const block of blocksOf(chunks, () => free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES))) {
      const frame = compress(block, OPTIONS)
      // The frame is awaited in its turn, perhaps after another one has failed.
      frame.catch(() => undefined)
      pending.push({ frame, block })
      if (pending.length >= MAX_PENDING) yield await next()
    }
    while (pending.length > 0) yield await next()
  } finally {
    await Promise.allSettled(pending.map(({ frame }) => frame))
  }
}

interface PendingFrame {
  readonly frame: Promise<Uint8Array>
  readonly block: Buffer
}

async function* blocksOf(chunks: AsyncIterable<Uint8Array>, newBlock: () => Buffer): AsyncIterable<Buffer> {
  let block = newBlock()
  let filled = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES - filled)
      block.set(piece, filled)
      filled += piece.length
      at += piece.length
      if (filled < BLOCK_BYTES) continue
      yield block
      block = newBlock()
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

export async function* gzipChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gzip = createGzip()
  const fed = pipeline(Readable.from(copyEach(chunks), { objectMode: false }), gzip)
  // The loop throws the same error.
  fed.catch(() => undefined)
  for await (const chunk of gzip) yield chunk as Buffer
  await fed
}

/** A stream keeps chunks until it processes them. */
async function* copyEach(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) yield Uint8Array.from(chunk)
}
