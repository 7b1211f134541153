import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

const READ_BYTES = 1_024 ** 2

/** The bytes of an open file from its start, at most `size` of them. A chunk is valid until the next one is read. */
export async function* transientChunksOf(file: FileHandle, size: number): AsyncIterable<Uint8Array> {
  let at = 0
  const readInto = async (buffer: Buffer) => {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at)
    at += bytesRead
    return buffer.subarray(0, bytesRead)
  }
  // The buffer is used again: the collection of one buffer for each chunk takes as long as all the rest on this thread.
  const newBuffer = () => Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size))
  let [current, other] = [newBuffer(), newBuffer()]
  let next = readInto(current)
  try {
    for (let chunk = await next; chunk.length > 0; chunk = await next) {
      next = readInto(other)
      // It is awaited after the chunk before it is processed.
      next.catch(() => undefined)
      yield chunk
      ;[current, other] = [other, current]
    }
  } finally {
    // The file must not be closed meanwhile.
    await next.catch(() => undefined)
  }
}

/** Opens a regular file. Does not follow a link, and does not wait for the writer of a pipe. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Error('it is not a regular file')
}

/** The bytes of a file, which is closed at the end. A chunk is valid until the next one is read. */
export async function* transientChunks(
  path: string,
  size = Number.POSITIVE_INFINITY,
): AsyncIterable<Uint8Array> {
  await using file = await openRegularFile(path)
  yield* transientChunksOf(file, Math.min(size, (await file.stat()).size))
}

/** The bytes of a file, which is closed at the end, for a reader that keeps chunks. */
export async function* fileChunks(path: string, size?: number): AsyncIterable<Uint8Array> {
  for await (const chunk of transientChunks(path, size)) yield Uint8Array.from(chunk)
}
