import { isLoopbackHost } from '../../kernel/addresses.ts'

export interface EndpointOptions {
  readonly issuer: string
  /** Where the metadata is, or the address below which it is. Left out: below the issuer. */
  readonly discoveryUrl?: string | undefined
  readonly allowInsecureEndpoints: boolean
}

/** An endpoint that may not be called. A TypeError, because the library passes errors of this class on unchanged. */
export class ForbiddenEndpoint extends TypeError {
  override readonly name = 'ForbiddenEndpoint'
}

/**
 * Which addresses of a provider may be called (docs/specification.md, Sign-in). Without `allowInsecureEndpoints` that is
 * only `https:`, and no loopback address unless the issuer has one.
 */
export class EndpointRules {
  /** Where the metadata of the provider is (OpenID Connect Discovery, section 4). */
  readonly discoveryUrl: string
  readonly #issuer: URL
  readonly #isInsecureAllowed: boolean
  /** The origin at which the endpoints of the issuer's origin are reached. */
  readonly #reachedAt: string

  constructor({ issuer, discoveryUrl, allowInsecureEndpoints }: EndpointOptions) {
    this.discoveryUrl = metadataAddress(discoveryUrl ?? issuer)
    this.#issuer = new URL(issuer)
    this.#isInsecureAllowed = allowInsecureEndpoints
    const discovery = new URL(this.discoveryUrl)
    const isMoved = allowInsecureEndpoints && isLoopbackHost(discovery.hostname)
    this.#reachedAt = isMoved ? discovery.origin : this.#issuer.origin
  }

  /** The address at which an endpoint is reached. Throws {@link ForbiddenEndpoint}, or TypeError for no URL. */
  resolve(endpoint: string): string {
    const url = new URL(endpoint)
    const reached =
      url.origin === this.#issuer.origin ? `${this.#reachedAt}${url.href.slice(url.origin.length)}` : url.href
    this.require(reached)
    return reached
  }

  /** Throws {@link ForbiddenEndpoint} for an address that may not be called. */
  require(address: string): void {
    const { protocol, hostname, origin } = new URL(address)
    if (protocol !== 'https:' && protocol !== 'http:')
      throw new ForbiddenEndpoint(`${origin} is not a web address`)
    if (this.#isInsecureAllowed) return
    if (protocol === 'http:') throw new ForbiddenEndpoint(`${origin} is not https`)
    if (isLoopbackHost(hostname) && !isLoopbackHost(this.#issuer.hostname)) {
      throw new ForbiddenEndpoint(`${origin} is a loopback address, and the issuer is not`)
    }
  }
}

function metadataAddress(address: string): string {
  return address.includes('/.well-known/')
    ? address
    : `${address.replace(/\/$/, '')}/.well-known/openid-configuration`
}
