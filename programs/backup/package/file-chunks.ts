import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

const READ_BYTES = 1_024 ** 2

/** The bytes of an open file from its start, at most `size` of them. */
export async function* chunksOf(file: FileHandle, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < size;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
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

/** The bytes of a file, which is closed at the end. */
export async function* fileChunks(path: string, size = Number.POSITIVE_INFINITY): AsyncIterable<Uint8Array> {
  await using file = await openRegularFile(path)
  yield* chunksOf(file, Math.min(size, (await file.stat()).size))
}
