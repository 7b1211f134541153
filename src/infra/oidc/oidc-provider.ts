import type * as openidClient from 'openid-client'
import type { Configuration, CustomFetchOptions, ServerMetadata } from 'openid-client'
import type { Clock } from '../../kernel/clock.ts'
import type { Secret } from '../../kernel/secret.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { Claims, IdentityProvider, ProviderFailure, SignInBinding } from '../../ports/authentication.ts'
import { type EndpointOptions, EndpointRules, ForbiddenEndpoint } from './endpoint-rules.ts'
import { errorMessage, errorCode } from '../../kernel/errors.ts'

export interface OidcOptions extends EndpointOptions {
  readonly clientId: string
  readonly clientSecret: Secret
  readonly redirectUri: string
  /** Where the provider sends the browser after a sign-out; left out, it stays with the provider. */
  readonly postLogoutRedirectUri?: string | undefined
  readonly scopes: readonly string[]
  readonly clock: Clock
  /** For each request to the provider; a sign-in needs up to four. */
  readonly timeoutMs?: number
}

// A sign-in makes up to four requests, and a gateway waits 30 s for the api.
const TIMEOUT_MS = 7_000
const METADATA_AGE_MS = 10 * MINUTE

/** An OpenID provider, or an OAuth 2.0 server with a `userinfo` endpoint when `openid` is not among the scopes. */
export class OidcProvider implements IdentityProvider {
  readonly #options: OidcOptions
  readonly #rules: EndpointRules
  readonly #fetch: ReturnType<typeof createBoundedFetch>
  #library: OidcLibrary | undefined
  #metadata: { readonly value: ServerMetadata; readonly readAt: number } | undefined
  #reading: Promise<ServerMetadata> | undefined

  constructor(options: OidcOptions) {
    this.#options = options
    this.#rules = new EndpointRules(options)
    this.#fetch = createBoundedFetch(this.#rules)
  }

  async authorizationUrl(binding: SignInBinding) {
    try {
      const library = await this.#load()
      // Read anew, so that no browser is sent to a provider that is away.
      const configuration = this.#configuration(library, await this.#freshMetadata(library))
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#options.redirectUri,
        scope: this.#options.scopes.join(' '),
        state: binding.state,
        code_challenge: await library.calculatePKCECodeChallenge(binding.codeVerifier),
        code_challenge_method: 'S256',
        ...(this.#isOpenId && { nonce: binding.nonce }),
      })
      return { outcome: 'ready', url: url.href } as const
    } catch (error) {
      return toProviderFailure(error, this.#library, 'unusable')
    }
  }

  async identify(answer: URLSearchParams, binding: SignInBinding) {
    if (!answer.has('code') && !answer.has('error')) return EMPTY_ANSWER
    let step: 'refused' | 'unusable' = 'unusable'
    try {
      const library = await this.#load()
      const configuration = this.#configuration(library, await this.#currentMetadata(library))
      step = 'refused'
      const tokens = await this.#exchange(library, configuration, answer, binding)
      step = 'unusable'
      const claims = { ...(await readUser(library, configuration, tokens)), ...tokens.claims() }
      return { outcome: 'identified', claims } as const
    } catch (error) {
      return toProviderFailure(error, this.#library, step)
    }
  }

  async endSessionUrl() {
    try {
      const library = await this.#load()
      const metadata = await this.#currentMetadata(library)
      if (metadata.end_session_endpoint === undefined) return undefined
      const { postLogoutRedirectUri: uri } = this.#options
      const parameters = uri === undefined ? {} : { post_logout_redirect_uri: uri }
      return library.buildEndSessionUrl(this.#configuration(library, metadata), parameters).href
    } catch {
      return undefined
    }
  }

  get #isOpenId(): boolean {
    return this.#options.scopes.includes('openid')
  }

  /** It takes some time to load, and most processes never need it. */
  async #load(): Promise<OidcLibrary> {
    this.#library ??= await import('openid-client')
    return this.#library
  }

  #exchange(
    library: OidcLibrary,
    configuration: Configuration,
    answer: URLSearchParams,
    binding: SignInBinding,
  ) {
    const callback = new URL(this.#options.redirectUri)
    callback.search = answer.toString()
    return library.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: binding.codeVerifier,
      expectedState: binding.state,
      ...(this.#isOpenId && { expectedNonce: binding.nonce, idTokenExpected: true }),
    })
  }

  /** A new one for each sign-in: it would keep the keys of the provider, and refuse a token of a key that is newer. */
  #configuration(library: OidcLibrary, metadata: ServerMetadata): Configuration {
    const { clientId, clientSecret, allowInsecureEndpoints } = this.#options
    const authenticate = supportsBasic(metadata) ? library.ClientSecretBasic : library.ClientSecretPost
    const configuration = new library.Configuration(
      metadata,
      clientId,
      undefined,
      authenticate(clientSecret.reveal()),
    )
    configuration[library.customFetch] = this.#fetch
    configuration.timeout = this.#timeoutSeconds
    if (allowInsecureEndpoints) library.allowInsecureRequests(configuration)
    if (metadata.jwks_uri !== undefined) library.enableNonRepudiationChecks(configuration)
    return configuration
  }

  get #timeoutSeconds(): number {
    return (this.#options.timeoutMs ?? TIMEOUT_MS) / 1_000
  }

  /** The metadata of a sign-in that has begun a short time ago. */
  async #currentMetadata(library: OidcLibrary): Promise<ServerMetadata> {
    const kept = this.#metadata
    const isCurrent = kept && this.#options.clock.monotonic() - kept.readAt < METADATA_AGE_MS
    return isCurrent ? kept.value : this.#freshMetadata(library)
  }

  /** Reads the metadata; concurrent calls share one request, and a failure is not kept. */
  async #freshMetadata(library: OidcLibrary): Promise<ServerMetadata> {
    this.#reading ??= this.#readMetadata(library).finally(() => (this.#reading = undefined))
    const value = await this.#reading
    this.#metadata = { value, readAt: this.#options.clock.monotonic() }
    return value
  }

  async #readMetadata(library: OidcLibrary): Promise<ServerMetadata> {
    const { clientId, issuer, allowInsecureEndpoints } = this.#options
    const discovered = await library.discovery(
      new URL(this.#rules.discoveryUrl),
      clientId,
      undefined,
      undefined,
      {
        [library.customFetch]: this.#fetch,
        timeout: this.#timeoutSeconds,
        execute: allowInsecureEndpoints ? [library.allowInsecureRequests] : [],
      },
    )
    const metadata = discovered.serverMetadata()
    // The library does not compare them when it is given the whole address of the metadata.
    if (metadata.issuer !== issuer) throw new Error('the issuer in the metadata is not auth.oidc.issuer')
    return withReachableEndpoints(metadata, this.#rules)
  }
}

const EMPTY_ANSWER = { outcome: 'refused', reason: 'neither a code nor an error' } as const

const REQUIRED_ENDPOINTS = ['authorization_endpoint', 'token_endpoint'] as const
const OPTIONAL_ENDPOINTS = ['userinfo_endpoint', 'jwks_uri', 'end_session_endpoint'] as const

function withReachableEndpoints(metadata: ServerMetadata, rules: EndpointRules): ServerMetadata {
  const reachable: Record<string, string> = {}
  for (const name of [...REQUIRED_ENDPOINTS, ...OPTIONAL_ENDPOINTS]) {
    const endpoint = metadata[name]
    if (endpoint !== undefined) reachable[name] = rules.resolve(endpoint)
  }
  for (const name of REQUIRED_ENDPOINTS) {
    if (reachable[name] === undefined) throw new Error(`the metadata has no ${name}`)
  }
  return { ...metadata, ...reachable }
}

/** OpenID Connect Discovery, section 3: `client_secret_basic` is the default. */
function supportsBasic({ token_endpoint_auth_methods_supported: methods }: ServerMetadata): boolean {
  return methods?.includes('client_secret_basic') ?? true
}

type Tokens = Awaited<ReturnType<OidcLibrary['authorizationCodeGrant']>>

/** What the `userinfo` endpoint says about the user; nothing where there is none. */
async function readUser(library: OidcLibrary, configuration: Configuration, tokens: Tokens): Promise<Claims> {
  const subject = tokens.claims()?.sub
  if (configuration.serverMetadata().userinfo_endpoint === undefined) {
    if (subject === undefined) throw new Error('the provider has neither an ID token nor a userinfo endpoint')
    return {}
  }
  return library.fetchUserInfo(configuration, tokens.access_token, subject ?? library.skipSubjectCheck)
}

/** The classes of the library, which is loaded only when it is needed. */
type OidcLibrary = typeof openidClient

/**
 * The failure that an error of the library stands for. `refusal` says whether an error answer refuses the sign-in, as at
 * the token endpoint, or is only an answer that cannot be used.
 */
function toProviderFailure(
  error: unknown,
  library: OidcLibrary | undefined,
  refusal: 'refused' | 'unusable',
): ProviderFailure {
  if (error instanceof ProviderUnreachable) return { outcome: 'unreachable', reason: error.message }
  if (error instanceof ForbiddenEndpoint) return { outcome: 'unusable', reason: error.message }
  if (library && error instanceof library.AuthorizationResponseError) {
    return { outcome: 'refused', reason: providerCode(error.error) }
  }
  if (library && error instanceof library.ResponseBodyError) {
    const isBusy = error.status === 429 || error.status >= 500
    return {
      outcome: isBusy ? 'unusable' : refusal,
      reason: `${providerCode(error.error)} (HTTP ${error.status})${error.error === 'invalid_client' ? WRONG_CLIENT : ''}`,
    }
  }
  if (library && error instanceof library.WWWAuthenticateChallengeError) {
    const isClient = refusal === 'refused' && error.status === 401
    return {
      outcome: refusal,
      reason: `HTTP ${error.status} with a challenge${isClient ? WRONG_CLIENT : ''}`,
    }
  }
  return { outcome: 'unusable', reason: reasonOf(error) }
}

// RFC 6749, section 5.2: invalid_client
const WRONG_CLIENT = ': the provider does not accept auth.oidc.client_id with auth.oidc.client_secret'

/** RFC 6749, section 5.2: visible ASCII. A text that the provider chooses must not grow the log. */
function providerCode(text: string): string {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? text : 'an error without a usable code'
}

/**
 * The messages of the library are constant texts; what an answer contains is only in further causes. An inner error of the
 * same code names the claim or the member at fault. The code stands last: the log would take `…JWT…: text` for a secret
 * with its name.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = errorCode(error)
  if (code === undefined) return error.message
  const { message } = error.cause instanceof Error && errorCode(error.cause) === code ? error.cause : error
  return `${message} (${code})`
}

/** No answer came, or not the whole of it. A TypeError, because the library passes these on unchanged. */
class ProviderUnreachable extends TypeError {
  override readonly name = 'ProviderUnreachable'
}

// The metadata and the keys of large providers have up to 20 KiB.
const LARGEST_ANSWER_BYTES = 262_144

/**
 * A `fetch` for the requests of the library: it calls only addresses that the rules allow, and reads the whole answer, so
 * that the time limit of the request covers it. Throws {@link ProviderUnreachable}.
 */
export function createBoundedFetch(rules: EndpointRules) {
  return async (address: string, options: CustomFetchOptions): Promise<Response> => {
    rules.require(address)
    const response = await fetch(address, { ...options, body: formOf(options), redirect: 'manual' }).catch(
      unreachable,
    )
    const body = await readBody(response)
    return new Response(hasBody(response) ? body : null, {
      status: response.status,
      headers: response.headers,
    })
  }
}

/** The library sends forms only. */
function formOf({ body }: CustomFetchOptions): URLSearchParams | null {
  return body instanceof URLSearchParams ? body : null
}

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // The stream is cancelled when the loop is left.
  for await (const chunk of body ? chunksOf(body) : []) {
    bytes += chunk.length
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new TypeError(`an answer has more than ${LARGEST_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks, bytes))
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    unreachable(error)
  }
}

/** A response with one of these statuses must not be given a body. */
function hasBody({ status }: Response): boolean {
  return ![204, 205, 304].includes(status)
}

function unreachable(error: unknown): never {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  throw new ProviderUnreachable(errorMessage(cause), { cause: error })
}
