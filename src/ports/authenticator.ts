import type { Identity, TokenPurpose } from '../kernel/identity.ts'

/**
 * Verifies tokens and knows their users. Nothing to close; every call may be repeated. Each method throws or rejects
 * with `unauthenticated` for a token that is forged, expired, revoked by a change of its user, or of a user who was
 * deleted, and with `store_unavailable` when the user cannot be read.
 */
export interface Authenticator {
  /**
   * The caller; synchronous when token and user were read a moment ago, because it runs with every request. `from` is the
   * address that the token came from.
   */
  authenticate(token: string, from?: string): Identity | Promise<Identity>
  /** For a connection that lasts: it has to end when the token expires. */
  holder(token: string, from?: string): Promise<TokenHolder>
}

/** What a verified token says, and nothing about its user as the user is now; times are epoch milliseconds. */
export interface TokenClaims {
  readonly userId: string
  /** As the token names them; a name that is no role of the platform may be among them. */
  readonly roles: readonly string[]
  /** Undefined in a token that another program signed with the same secret. */
  readonly generation: number | undefined
  /** `jti`, unless it is missing or longer than 128 characters. */
  readonly tokenId?: string | undefined
  /** Undefined in a token for every operation. */
  readonly purpose?: TokenPurpose | undefined
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The user of a valid token, and how long the token is valid; times are epoch milliseconds. */
export interface TokenHolder {
  readonly identity: Identity
  /** Undefined in a token that another program signed with the same secret. */
  readonly generation: number | undefined
  readonly issuedAt: number
  readonly expiresAt: number
}

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
interface SignedToken {
  readonly token: string
  /** Epoch milliseconds, on a whole second. */
  readonly expiresAt: number
}
