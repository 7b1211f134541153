import type { Identity } from '../../kernel/identity.ts'
import { unauthenticated } from '../http/identity.ts'

/** Who holds a good token, and what it says; times are epoch milliseconds. */
export interface TokenHolder {
  readonly identity: Identity
  readonly generation: number | undefined
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Knows the holders of tokens. Rejects with `unauthenticated`, or with `store_unavailable` when it cannot know. */
export interface TokenHolders {
  holder(token: string): Promise<TokenHolder>
}

/** Throws `unauthenticated` for somebody without any role: a session would be of no use (contract, section 5). */
export function requireRole({ identity }: TokenHolder): void {
  if (identity.roles.length === 0) throw unauthenticated('The token names no role of the platform.')
}
