import type { IncomingMessage, ServerResponse } from 'node:http'
import { SECOND } from '../../kernel/time.ts'

// More than a client sends by mistake.
const MAX_BYTES = 64 * 1_048_576
const MAX_MS = 5 * SECOND

/**
 * Reads the rest of a body and drops it, if the connection will be closed after the response. Otherwise the kernel would
 * reset the connection, and a client that is still sending would lose the response (RFC 9112, section 9.6). Resolves when
 * the body has ended, or when it takes too long.
 */
export async function discardBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (response.shouldKeepAlive || request.complete || request.destroyed) return
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
