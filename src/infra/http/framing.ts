import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/errors.ts'

/**
 * What a proxy and a server may read differently, and which Node.js lets through: more than one `Host`, and a
 * request target that is not a path (reliability, section 4, check 18).
 */
export function framingFault(request: IncomingMessage): AppError | undefined {
  if (request.url?.charCodeAt(0) !== SLASH) {
    return malformed('the request target', 'must be a path that begins with "/"')
  }
  if (countHeader(request, 'host') > 1) return malformed('Host', 'must stand once')
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
