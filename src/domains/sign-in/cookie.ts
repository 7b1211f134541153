import { SECOND } from '../../kernel/time.ts'
import { FLOW_LIFETIME_MS, isBrowserKey } from './flow-state.ts'

/** The cookie that binds a sign-in to its browser. */
export class BrowserCookie {
  readonly #name: string
  readonly #attributes: string

  /** The cookie is sent where the provider leads the browser back to. */
  constructor(redirectUri: string) {
    const { protocol, pathname } = new URL(redirectUri)
    const isSecure = protocol === 'https:'
    // With this prefix no other host of the domain can set it; it requires the path "/" (RFC 6265bis, section 4.1.3.2).
    this.#name = isSecure ? '__Host-platform-sign-in' : 'platform-sign-in'
    const path = isSecure ? '/' : pathname.replace(/(?<=.)\/[^/]*$/, '')
    const lifetime = `Max-Age=${FLOW_LIFETIME_MS / SECOND}`
    this.#attributes = [
      '',
      `Path=${path}`,
      lifetime,
      'HttpOnly',
      'SameSite=Lax',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ')
  }

  /** The value of a `Set-Cookie` header. */
  write(browserKey: string): string {
    return `${this.#name}=${browserKey}${this.#attributes}`
  }

  /** The secret of the browser from a `Cookie` header; undefined when there is none. */
  read(header: string | undefined): string | undefined {
    const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('='))
    return pairs.find(([name, value]) => name === this.#name && isBrowserKey(value ?? ''))?.[1]
  }
}
