import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../kernel/errors.ts'

/** Connections that have to be closed, because it is not certain where the next request on them begins. */
const faulty = new WeakSet<Socket>()

/**
 * Finds what a proxy and this server could interpret differently in a request that Node.js accepts: more than one `Host`, a
 * request target that is not a path, and a transfer coding that would stay in the body (RFC 9112, sections 3.2, 6.1 and
 * 11.2). Every further request on the connection is refused too, and the caller has to close the connection.
 */
export function framingFault(request: IncomingMessage): AppError | undefined {
  const { socket } = request
  const fault = faulty.has(socket) ? afterFault() : findFault(request)
  if (fault) faulty.add(socket)
  return fault
}

function findFault(request: IncomingMessage): AppError | undefined {
  if (request.url?.charCodeAt(0) !== SLASH) {
    return malformed('the request target', 'must be a path that begins with "/"')
  }
  const hosts = countHeader(request, 'host')
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return malformed('Host', 'must occur once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return malformed('Transfer-Encoding', 'must be chunked')
  }
  return undefined
}

function afterFault(): AppError {
  return malformed('the connection', 'is closed after a request that was not well framed')
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
export function malformed(path: string, message: string): AppError {
  return new AppError('invalid', 'validation_failed', `${path} ${message}.`, { details: [{ path, message }] })
}

const SLASH = 47
