import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { SECOND } from '../../kernel/time.ts'

// More than a client sends by mistake.
const MAX_BYTES = 64 * 1_048_576
const MAX_MS = 5 * SECOND

/** Whether the connection will be closed after the response although its client may still be sending. */
export function isCutOff(request: IncomingMessage, response: ServerResponse): boolean {
  return !response.shouldKeepAlive && !request.complete && !request.destroyed
}

/**
 * A response of which the client gets everything at once, and which ends when the rest of the request's body was read and
 * dropped. Otherwise the kernel would reset the connection, and a client that is still sending would lose the response
 * (RFC 9112, section 9.6).
 */
export function untilDiscarded(
  body: Iterable<string> | AsyncIterable<Buffer>,
  request: IncomingMessage,
): Readable {
  const discarded = discardBody(request)
  const chunks = async function* () {
    yield* body
    await discarded
  }
  return Readable.from(chunks())
}

/** Resolves when the body has ended, or when it takes too long. */
async function discardBody(request: IncomingMessage): Promise<void> {
  const { promise: discarded, resolve } = Promise.withResolvers<void>()
  const limit = setTimeout(resolve, MAX_MS)
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BYTES) resolve()
  }
  request.on('data', count).once('end', resolve).once('close', resolve)
  request.resume()
  await discarded
  clearTimeout(limit)
  request.off('data', count).off('end', resolve).off('close', resolve)
}
