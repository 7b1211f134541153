import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What the parser of Node.js has besides its documented interface, which cannot stop in the middle of what was read. */
interface Parser {
  onIncoming(request: IncomingMessage, shouldKeepAlive: boolean): number
  execute(bytes: Buffer): unknown
  resume(): void
}

type ParsedSocket = Socket & { readonly parser?: Parser | null }

/** The error that Node.js emits as `clientError` when its parser has stopped. */
export interface ParserPause extends Error {
  readonly code: 'HPE_PAUSED'
  readonly bytesParsed: number
  readonly rawPacket: Buffer
}

// llhttp: the value by which a callback stops the parser
const HPE_PAUSED = 21

/** Stops the parser of the socket behind the headers of each request after which `mustWait` returns true. */
export function pauseParserWhen(socket: ParsedSocket, mustWait: () => boolean): void {
  const { parser } = socket
  if (!parser) return
  const { onIncoming } = parser
  parser.onIncoming = (request, shouldKeepAlive) => {
    const result = onIncoming(request, shouldKeepAlive)
    return mustWait() ? HPE_PAUSED : result
  }
}

export function isParserPause(error: NodeJS.ErrnoException): error is ParserPause {
  return error.code === 'HPE_PAUSED'
}

/** Completes the request at which the parser has stopped, and returns what follows. */
export function completeRequest(
  socket: ParsedSocket,
  { headers }: IncomingMessage,
  { bytesParsed, rawPacket }: ParserPause,
): Buffer {
  const rest = rawPacket.subarray(bytesParsed)
  const ofBody = Math.min(Number(headers['content-length'] ?? 0), rest.length)
  socket.parser?.resume()
  // An incomplete request would be timed out while it waits for the server.
  socket.parser?.execute(rest.subarray(0, ofBody))
  // Node.js reads on behind a complete request.
  socket.pause()
  return rest.subarray(ofBody)
}
