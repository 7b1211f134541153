import { generateKeyPair, hash, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { randomText } from './random-text.ts'

/** The keys of the id_tokens: the one that signs, and the one before it. */
export interface SigningKeys {
  /** The JWK set as text (RFC 7517). */
  jwks(): Promise<string>
  /** A JWT of these claims (RS256), signed off the event loop. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>
  /** Signs with a new key from now on. The one before stays in the set, others leave it. */
  rotate(): Promise<void>
}

interface SigningKey {
  readonly privateKey: KeyObject
  readonly header: string
  readonly jwk: Readonly<Record<string, unknown>>
}

const newKeyPair = promisify(generateKeyPair)
const signAside = promisify(sign)

/** Begins to make the first key; whoever needs it waits for it. */
export function createSigningKeys(): SigningKeys {
  let current = newSigningKey()
  let previous: SigningKey | undefined
  return {
    async jwks() {
      const key = await current
      return JSON.stringify({ keys: [key, previous].flatMap((each) => (each ? [each.jwk] : [])) })
    },
    async sign(claims) {
      const { header, privateKey } = await current
      const content = `${header}.${toPart(claims)}`
      const signature = await signAside('sha256', Buffer.from(content), privateKey)
      return `${content}.${signature.toString('base64url')}`
    },
    async rotate() {
      const retired = await current
      const next = await newSigningKey()
      previous = retired
      current = Promise.resolve(next)
    },
  }
}

async function newSigningKey(): Promise<SigningKey> {
  // RFC 7518, section 3.3: 2048 bits or more
  const { privateKey, publicKey } = await newKeyPair('rsa', { modulusLength: 2_048 })
  const kid = randomText()
  return {
    privateKey,
    header: toPart({ alg: 'RS256', typ: 'JWT', kid }),
    jwk: { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid },
  }
}

function toPart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The claim that ties an access token to its id_token (OIDC Core, section 3.1.3.6). */
export function accessTokenHash(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url')
}
