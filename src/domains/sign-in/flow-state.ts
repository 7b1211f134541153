import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import type { RotatedKeys, Secret } from '../../kernel/secret.ts'
import { MINUTE } from '../../kernel/time.ts'
import type { SignInBinding } from '../../ports/authentication.ts'

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
  readonly #signingKeys: () => RotatedKeys
  readonly #clock: Clock
  #derived: readonly [FlowKeys, ...FlowKeys[]] | undefined

  constructor(signingKeys: () => RotatedKeys, clock: Clock) {
    this.#signingKeys = signingKeys
    this.#clock = clock
  }

  /** Begins a sign-in of that browser. */
  begin(browserKey: string, returnTo: string): SignInBinding {
    const [keys] = this.#keys
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, keys.sealing, iv).setAAD(Buffer.from(browserKey))
    const content = JSON.stringify([this.#clock.now() + FLOW_LIFETIME_MS, returnTo])
    const sealed = Buffer.concat([cipher.update(content, 'utf8'), cipher.final()])
    const state = Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    return bindingOf(keys, { browserKey, iv, state })
  }

  /** The sign-in that this browser has begun with the state; undefined for any other state. It may have expired. */
  open(browserKey: string, state: string): Flow | undefined {
    const bytes = Buffer.from(state, 'base64url')
    // A text with more than one spelling could be used once in each of them.
    if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== state) return undefined
    const iv = bytes.subarray(0, IV_BYTES)
    for (const keys of this.#keys) {
      const content = decrypt(keys, { browserKey, iv, tagAndText: bytes.subarray(IV_BYTES) })
      if (content === undefined) continue
      const [expiresAt, returnTo] = JSON.parse(content) as [number, string]
      return { binding: bindingOf(keys, { browserKey, iv, state }), returnTo, expiresAt }
    }
    return undefined
  }

  get #keys() {
    const [current, ...former] = this.#signingKeys()
    this.#derived ??= [flowKeys(current), ...former.map(flowKeys)]
    return this.#derived
  }
}

/** The keys that are derived from one signing key. */
interface FlowKeys {
  readonly sealing: Buffer
  readonly binding: Buffer
}

function flowKeys(signingKey: Secret): FlowKeys {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', signingKey.reveal(), '', purpose, 32))
  return { sealing: derive('platform sign-in state'), binding: derive('platform sign-in binding') }
}

interface SealedState {
  readonly browserKey: string
  readonly iv: Buffer
  readonly tagAndText: Buffer
}

function decrypt({ sealing }: FlowKeys, { browserKey, iv, tagAndText }: SealedState): string | undefined {
  const decipher = createDecipheriv(CIPHER, sealing, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(browserKey))
    .setAuthTag(tagAndText.subarray(0, TAG_BYTES))
  try {
    return decipher.update(tagAndText.subarray(TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

interface BoundState {
  readonly browserKey: string
  readonly iv: Buffer
  readonly state: string
}

function bindingOf({ binding }: FlowKeys, { browserKey, iv, state }: BoundState): SignInBinding {
  const derive = (purpose: string) =>
    createHmac('sha256', binding).update(`${purpose}\0${browserKey}\0`).update(iv).digest('base64url')
  return { state, nonce: derive('nonce'), codeVerifier: derive('code verifier') }
}
