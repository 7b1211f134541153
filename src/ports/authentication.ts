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
  /** The roles in the token; some may not be roles of the platform. */
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

/** What binds the answer of the provider to one sign-in. All three are random texts without meaning. */
export interface SignInBinding {
  /** Comes back in the answer (RFC 6749, section 4.1.1). */
  readonly state: string
  /** Comes back in the ID token (OpenID Connect Core, section 3.1.2.1). */
  readonly nonce: string
  /** Proves to the provider that the same client began the sign-in (RFC 7636, section 4.1). */
  readonly codeVerifier: string
}

/** What the provider says about a user, by the names of the claims. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Why a provider gave no answer. `refused`: it refuses this sign-in. `unusable`: its answer cannot be used. `unreachable`:
 * it does not answer. `reason` is for the log and contains no secret.
 */
export interface ProviderFailure {
  readonly outcome: 'refused' | 'unusable' | 'unreachable'
  readonly reason: string
}

/** A provider of identities with OpenID Connect, or with OAuth 2.0 and a `userinfo` endpoint. Nothing to close. */
export interface IdentityProvider {
  /** The address where a browser begins the sign-in. May ask the provider first, for a bounded time. Never rejects. */
  authorizationUrl(
    binding: SignInBinding,
  ): Promise<{ readonly outcome: 'ready'; readonly url: string } | ProviderFailure>
  /**
   * Exchanges the answer that a browser has brought back, and checks it against its sign-in. Takes a bounded time and never
   * rejects. A code can be exchanged once.
   */
  identify(
    answer: URLSearchParams,
    binding: SignInBinding,
  ): Promise<{ readonly outcome: 'identified'; readonly claims: Claims } | ProviderFailure>
  /**
   * Where a browser ends its session with the provider (OpenID Connect RP-Initiated Logout); undefined if the provider has no
   * such address, or cannot be asked. May ask the provider first, for a bounded time. Never rejects.
   */
  endSessionUrl(): Promise<string | undefined>
}
