import type { IncomingMessage } from 'node:http'

/** contract, section 6 */
export const BODY_LIMIT_BYTES = 64 * 1_024

/** `too_large`: the rest is read and thrown away. `cut_off`: the client went away before the end. */
export type ReadBody = Buffer | 'too_large' | 'cut_off'

/** Calls back once. */
export function readBody(request: IncomingMessage, done: (body: ReadBody) => void): void {
  let chunks: Buffer[] = []
  let bytes = 0
  let isDone = false
  const finish = (body: ReadBody) => {
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
  request.once('end', () => finish(joined(chunks)))
  request.once('close', () => finish('cut_off'))
  if (request.destroyed) finish('cut_off')
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}
