import type { TokenPurpose } from '../kernel/identity.ts'

/** Signs tokens. Synchronous, with nothing to close; each call gives another token. */
export interface TokenIssuer {
  /** A token that is valid for `ttlMs` milliseconds, rounded up to a whole second. */
  sign(subject: TokenSubject, ttlMs?: number): SignedToken
}

/** The user that a token is for. */
export interface TokenSubject {
  readonly userId: string
  readonly name: string
  readonly roles: readonly string[]
  /** Generation of the user's tokens; the token is revoked when the user's generation is raised above it. */
  readonly generation: number
  /** Limits the token to one purpose. */
  readonly purpose?: TokenPurpose | undefined
  /** How the user has signed in (RFC 8176, `amr`): `oidc` by an OpenID provider, whose session a sign-out ends, too. */
  readonly method?: 'oidc' | undefined
}

/** A token in the compact form (RFC 7519, section 3.1), and when it expires. */
export interface SignedToken {
  readonly token: string
  /** Epoch milliseconds, on a whole second. */
  readonly expiresAt: number
}
