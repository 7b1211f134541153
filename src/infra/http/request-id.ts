import type { IncomingHttpHeaders } from 'node:http'
import { newId } from '../../kernel/ids.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The id that the sender gave its request, when it has the form of one, else a new one (docs/specification.md, HTTP API). */
export function requestIdOf({ 'x-request-id': given }: IncomingHttpHeaders): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}
