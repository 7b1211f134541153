import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

const READ_BYTES = 1_024 ** 2

/** The bytes of an open file from its start, at most `size` of them. A chunk is valid until the next one is read. */
export async function* transientChunksOf(file: FileHandle, size: number): AsyncIterable<Uint8Array> {
  // Used again: with a new one for each chunk, collecting them takes as long as all the rest on this thread.
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size))
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
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
