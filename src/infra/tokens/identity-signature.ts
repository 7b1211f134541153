import type { Clock } from '../../kernel/clock.ts'
import {
  identityKeyOf,
  isSigned,
  signHeaders,
  signRequest,
  type SignedRequest,
} from '../../kernel/identity-signature.ts'
import type { RotatedKeys } from '../../kernel/secret.ts'

/**
 * Proves that a request comes from a program of the same installation, whatever `auth.trusted_proxies` is: one that has the
 * key that signs the tokens, and so could sign a token for the same user (docs/specification.md, Identity).
 */
export class IdentitySignature {
  readonly #clock: Clock
  readonly #keys: readonly [Buffer, ...Buffer[]]

  constructor([current, ...former]: RotatedKeys, clock: Clock) {
    this.#clock = clock
    this.#keys = [identityKeyOf(current.reveal()), ...former.map((key) => identityKeyOf(key.reveal()))]
  }

  /** Signs the headers that a gateway adds to its requests. */
  sign(headers: SignedRequest['headers']): string {
    return signHeaders(this.#keys[0], this.#clock.now(), headers)
  }

  /** Signs one request of a tool. */
  signRequest(request: SignedRequest): string {
    return signRequest(this.#keys[0], this.#clock.now(), request)
  }

  /** Whether the request is as a program of the installation has signed it within the last minute. */
  verify(request: SignedRequest): boolean {
    return isSigned(this.#keys, this.#clock.now(), request)
  }
}

/**
 * Verifies each request once and remembers the result, because a signature expires after a minute, and the address of the
 * client is read again at the end of a long response.
 */
export function verifyOnce(signature: Pick<IdentitySignature, 'verify'>): Pick<IdentitySignature, 'verify'> {
  const verified = new WeakMap<SignedRequest, boolean>()
  return {
    verify(request) {
      const known = verified.get(request)
      if (known !== undefined) return known
      const isVerified = signature.verify(request)
      verified.set(request, isVerified)
      return isVerified
    },
  }
}
