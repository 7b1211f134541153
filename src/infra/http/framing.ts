import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/errors.ts'

/**
 * What a proxy and a server may read differently, and which Node.js lets through: more than one `Host`, a request
 * target that is not a path, and a transfer coding that would be left in the body (reliability, section 4, check 18).
 */
export function framingFault(request: IncomingMessage): AppError | undefined {
  if (request.url?.charCodeAt(0) !== SLASH) {
    return malformed('the request target', 'must be a path that begins with "/"')
  }
  const hosts = countHeader(request, 'host')
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return malformed('Host', 'must stand once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return malformed('Transfer-Encoding', 'must be chunked')
  }
  return undefined
}

/** How often a header stands in the request as it was sent; `request.headers` joins repetitions or drops them. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] as string
    if (raw.length === name.length && raw.toLowerCase() === name) count++
  }
  return count
}

export function malformed(path: string, message: string): AppError {
  return new AppError('invalid', 'validation_failed', `${path} ${message}.`, { details: [{ path, message }] })
}

const SLASH = 47
