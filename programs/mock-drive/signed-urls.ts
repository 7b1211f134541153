import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../src/kernel/clock.ts'

export type UrlState = 'valid' | 'expired' | 'forged'

/** URLs that need no token: the path and the end of their life are signed. */
export class SignedUrls {
  readonly #clock: Clock
  readonly #key: string
  readonly #expired = new Set<string>()

  constructor(clock: Clock, key: string) {
    this.#clock = clock
    this.#key = key
  }

  /** Path and query of a URL that is valid for that time. */
  sign(path: string, ttlMs: number): string {
    const expires = String(this.#clock.now() + ttlMs)
    return `${path}?x-expires=${expires}&x-signature=${this.#signature(path, expires)}`
  }

  check(path: string, query: URLSearchParams): UrlState {
    const expires = query.get('x-expires') ?? ''
    const signature = query.get('x-signature') ?? ''
    if (!isSame(signature, this.#signature(path, expires))) return 'forged'
    return this.#expired.has(signature) || Number(expires) <= this.#clock.now() ? 'expired' : 'valid'
  }

  /** Makes a URL expire now. */
  expire(query: URLSearchParams): void {
    this.#expired.add(query.get('x-signature') ?? '')
  }

  #signature(path: string, expires: string): string {
    return createHmac('sha256', this.#key).update(`${expires}\n${path}`).digest('base64url')
  }
}

function isSame(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
