import type { TokenHolder } from '../../ports/authenticator.ts'
import { unauthenticated } from '../http/identity.ts'

/** Throws `unauthenticated` for somebody without any role: a session would be of no use (contract, section 5). */
export function requireRole({ identity }: TokenHolder): void {
  if (identity.roles.length === 0) throw unauthenticated('The token names no role of the platform.')
}
