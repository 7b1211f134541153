import type { IncomingMessage } from 'node:http'

/** docs/specification.md, Mock provider */
export const BODY_LIMIT_BYTES = 64 * 1_024

/** `too_large`: the rest is read and discarded. `aborted`: the connection closed before the end of the body. */
export type BodyResult = Buffer | 'too_large' | 'aborted'

/** Calls `done` exactly once. */
export function readBody(request: IncomingMessage, done: (body: BodyResult) => void): void {
  let chunks: Buffer[] = []
  let bytes = 0
  let isDone = false
  const finish = (body: BodyResult) => {
    if (isDone) return
    isDone = true
    done(body)
  }
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= BODY_LIMIT_BYTES) {
      chunks.push(chunk)
      return
    }
    chunks = []
    finish('too_large')
  })
  request.once('end', () => finish(concatChunks(chunks)))
  request.once('close', () => finish('aborted'))
  if (request.destroyed) finish('aborted')
}

function concatChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}
