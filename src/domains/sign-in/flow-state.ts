import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import type { Secret } from '../../kernel/secret.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { SignInBinding } from '../../ports/identity-provider.ts'

/** How long a person may take at the provider (docs/specification.md, Sign-in). */
export const FLOW_LIFETIME_MS = 10 * MINUTE

/** A sign-in that has come back from the provider. */
export interface Flow {
  readonly binding: SignInBinding
  readonly returnTo: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

const BROWSER_KEY = /^[A-Za-z0-9_-]{43}$/
const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** A new secret of a browser, for its cookie: 256 random bits. */
export function newBrowserKey(): string {
  return randomBytes(32).toString('base64url')
}

export function isBrowserKey(text: string): boolean {
  return BROWSER_KEY.test(text)
}

/**
 * Keeps the state of a sign-in in the `state` parameter itself, encrypted and bound to the secret of the browser. So a
 * browser may have any number of sign-ins open with one cookie, and every process that has the signing key can finish them.
 */
export class FlowStates {
  readonly #signingKey: () => Secret
  readonly #clock: Clock
  #derived: { readonly sealing: Buffer; readonly binding: Buffer } | undefined

  constructor(signingKey: () => Secret, clock: Clock) {
    this.#signingKey = signingKey
    this.#clock = clock
  }

  /** Begins a sign-in of that browser. */
  begin(browserKey: string, returnTo: string): SignInBinding {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, this.#keys.sealing, iv).setAAD(Buffer.from(browserKey))
    const content = JSON.stringify([this.#clock.now() + FLOW_LIFETIME_MS, returnTo])
    const sealed = Buffer.concat([cipher.update(content, 'utf8'), cipher.final()])
    return this.#binding(
      browserKey,
      iv,
      Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url'),
    )
  }

  /** The sign-in that this browser has begun with the state; undefined for any other state. It may have expired. */
  open(browserKey: string, state: string): Flow | undefined {
    const bytes = Buffer.from(state, 'base64url')
    // A text with more than one spelling could be used once in each of them.
    if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== state) return undefined
    const iv = bytes.subarray(0, IV_BYTES)
    const content = this.#decrypt(browserKey, iv, bytes.subarray(IV_BYTES))
    if (content === undefined) return undefined
    const [expiresAt, returnTo] = JSON.parse(content) as [number, string]
    return { binding: this.#binding(browserKey, iv, state), returnTo, expiresAt }
  }

  #decrypt(browserKey: string, iv: Buffer, tagAndText: Buffer): string | undefined {
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv(CIPHER, this.#keys.sealing, iv, options)
      .setAAD(Buffer.from(browserKey))
      .setAuthTag(tagAndText.subarray(0, TAG_BYTES))
    try {
      return decipher.update(tagAndText.subarray(TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      return undefined
    }
  }

  #binding(browserKey: string, iv: Buffer, state: string): SignInBinding {
    const derive = (purpose: string) =>
      createHmac('sha256', this.#keys.binding)
        .update(`${purpose}\0${browserKey}\0`)
        .update(iv)
        .digest('base64url')
    return { state, nonce: derive('nonce'), codeVerifier: derive('code verifier') }
  }

  get #keys() {
    this.#derived ??= {
      sealing: this.#derive('platform sign-in state'),
      binding: this.#derive('platform sign-in binding'),
    }
    return this.#derived
  }

  #derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#signingKey().reveal(), '', purpose, 32))
  }
}
