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
