import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../src/kernel/clock.ts'
import type { MockConfig } from './env.ts'
import type { Grants } from './grants.ts'
import type { SigningKeys } from './keys.ts'

/** What the endpoints share. */
export interface Provider {
  readonly config: MockConfig
  /** The configured issuer, with the real port. */
  readonly issuer: string
  readonly grants: Grants
  readonly keys: SigningKeys
  readonly clock: Clock
  /** The body of `/userinfo`. */
  readonly userJson: string
}

/** The parts of a request that endpoints use. */
export interface EndpointRequest {
  readonly method: string
  /** The query string, without `?`. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i

/** The form in the body of a POST; undefined for another method or another kind of body. */
export function formOf({ method, headers, body }: EndpointRequest): string | undefined {
  return method === 'POST' && FORM.test(headers['content-type'] ?? '') ? body.toString('utf8') : undefined
}
