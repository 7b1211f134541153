import { Header } from 'tar/header'
import { Pax } from 'tar/pax'

const BLOCK_BYTES = 512
const END = Buffer.alloc(2 * BLOCK_BYTES)
const PADDING = Buffer.alloc(BLOCK_BYTES)

/** One file of an archive. */
export interface TarFile {
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Exactly `size` bytes; a chunk is valid until the next one is read. */
  read(): AsyncIterable<Uint8Array>
}

/** The bytes of a tar archive (POSIX pax) with these files. A chunk is valid until the next one is read. */
export async function* tarArchive(files: Iterable<TarFile>): AsyncIterable<Uint8Array> {
  for (const file of files) {
    yield* headerOf(file)
    yield* content(file)
    yield PADDING.subarray(0, paddingOf(file.size))
  }
  yield END
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
}

function* headerOf({ path, size, modifiedAt }: TarFile): Iterable<Uint8Array> {
  const fields = {
    path,
    size,
    mtime: new Date(Math.floor(modifiedAt / 1_000) * 1_000),
    mode: 0o600,
    uid: 0,
    gid: 0,
  }
  const header = new Header({ ...fields, type: 'File' })
  // Only what does not fit into a header needs a second one.
  if (header.encode()) yield new Pax({ path, size }).encode()
  if (header.block) yield header.block
}

async function* content({ path, size, read }: TarFile): AsyncIterable<Uint8Array> {
  let left = size
  for await (const chunk of read()) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left !== 0) throw new Error(`${path} has changed while it was packed`)
}
