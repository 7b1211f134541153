import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../../kernel/ids.ts'
import { validationFailed, type AppError, fieldFault } from '../../kernel/errors.ts'

// The separators and dots of a path as they are, or percent-encoded once or more often: a server behind a server may
// decode each time.
const SLASH = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`
const DOT = String.raw`(?:\.|%(?:25)*2e)`
// Some servers end a segment at a parameter (";"), a zero byte, or an encoded "?" or "#" too.
const SEGMENT_END = String.raw`(?:${SLASH}|[;?#]|%(?:25)*(?:3b|3f|23|00)|$)`

const PARENT_SEGMENT = new RegExp(`${SLASH}${DOT}{2}${SEGMENT_END}`, 'i')
const NETWORK_PATH = new RegExp(`^/${SLASH}`, 'i')

/**
 * Whether a request target, which begins with "/", still names something below a prefix that is put before it, however a
 * server reads it: no segment is ".." (RFC 3986, section 5.2.4), and it does not begin as `//host/…` does (section 4.2).
 * The query may contain anything.
 */
export function staysBelowPrefix(target: string): boolean {
  const path = pathOf({ url: target })
  return !PARENT_SEGMENT.test(path) && !NETWORK_PATH.test(path)
}

/** The path of a request as the client has written it, without the query. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.split('?', 1)[0] as string
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id that the sender gave its request, when it has the form of one, else a new one (docs/specification.md, HTTP API). */
export function requestIdOf({ 'x-request-id': id }: IncomingHttpHeaders): string {
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : newId()
}

/** Connections that have to be closed, because it is not certain where the next request on them begins. */
const faulty = new WeakSet<Socket>()

/**
 * Finds what a proxy and this server could interpret differently in a request that Node.js accepts: a repeated `Host` or
 * other header with one value, a request target that is not a path, and a transfer coding that would stay in the body (RFC 9112, sections 3.2, 6.1 and
 * 11.2). Every further request on the connection is refused too, and the caller has to close the connection.
 */
export function framingFault(request: IncomingMessage): AppError | undefined {
  const { socket } = request
  const fault = faulty.has(socket) ? afterFault() : findFault(request)
  if (fault) faulty.add(socket)
  return fault
}

function findFault(request: IncomingMessage): AppError | undefined {
  if (request.url?.charCodeAt(0) !== SLASH_CODE) {
    return malformedError('the request target', 'must be a path that begins with "/"')
  }
  const repeated = repeatedHeader(request)
  if (repeated !== undefined) return malformedError(repeated, 'must occur once')
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    return malformedError('Host', 'must occur once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return malformedError('Transfer-Encoding', 'must be chunked')
  }
  return undefined
}

/**
 * Headers with one value, which Node.js would take from the first line, or join. If-Match and If-None-Match are lists, so
 * several lines are one list (RFC 9110, section 5.3).
 */
const SINGLE_HEADERS = [
  'Host',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Range',
  'Last-Event-ID',
  'Origin',
  'Range',
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Version',
]

function repeatedHeader(request: IncomingMessage): string | undefined {
  // Mostly each line is a header of its own.
  if (request.rawHeaders.length === 2 * Object.keys(request.headers).length) return undefined
  return SINGLE_HEADERS.find((name) => countHeader(request, name.toLowerCase()) > 1)
}

function afterFault(): AppError {
  return malformedError('the connection', 'is closed after a request that was not well framed')
}

/** How often the request has a header; `request.headers` joins repetitions or drops them. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] as string
    if (raw.length === name.length && raw.toLowerCase() === name) count++
  }
  return count
}

/** The error for an invalid part of a request; `path` names the part. */
export function malformedError(path: string, message: string): AppError {
  return validationFailed([fieldFault(path, 'invalid', { reason: message })])
}

const SLASH_CODE = 47
