import type { IncomingHttpHeaders } from 'node:http'
import { newId } from '../../kernel/ids.ts'

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
export function requestIdOf({ 'x-request-id': given }: IncomingHttpHeaders): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}
