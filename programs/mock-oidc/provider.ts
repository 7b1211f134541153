import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../src/kernel/clock.ts'
import type { MockConfig } from './env.ts'
import type { Grants } from './grants.ts'
import type { SigningKeys } from './keys.ts'

/** What the endpoints work with. */
export interface Provider {
  readonly config: MockConfig
  /** The configured one, with the real port. */
  readonly issuer: string
  readonly grants: Grants
  readonly keys: SigningKeys
  readonly clock: Clock
  /** The body of `/userinfo`. */
  readonly userJson: string
}

/** What the endpoints see of a request. */
export interface EndpointRequest {
  /** What stands behind the question mark. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}
