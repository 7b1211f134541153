import { generateKeyPair, hash, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { randomText } from '../mock-server/random-text.ts'

/** The keys of the id_tokens: the current one and the previous one. */
export interface SigningKeys {
  /** The JWK set as text (RFC 7517). */
  jwks(): Promise<string>
  /** A JWT of these claims (RS256), signed off the event loop. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>
  /** Replaces the current key; the set keeps only that one as the previous key. */
  rotate(): Promise<void>
}

interface SigningKey {
  readonly privateKey: KeyObject
  readonly header: string
  readonly jwk: Readonly<Record<string, unknown>>
}

const generateKeyPairAsync = promisify(generateKeyPair)
const signAsync = promisify(sign)

/** Starts to generate the first key; its first uses wait for it. */
export function createSigningKeys(): SigningKeys {
  let current = generateSigningKey()
  let previous: SigningKey | undefined
  return {
    async jwks() {
      const key = await current
      return JSON.stringify({ keys: [key, previous].flatMap((each) => (each ? [each.jwk] : [])) })
    },
    async sign(claims) {
      const { header, privateKey } = await current
      const content = `${header}.${encodePart(claims)}`
      const signature = await signAsync('sha256', Buffer.from(content), privateKey)
      return `${content}.${signature.toString('base64url')}`
    },
    async rotate() {
      const retired = await current
      const next = await generateSigningKey()
      previous = retired
      current = Promise.resolve(next)
    },
  }
}

async function generateSigningKey(): Promise<SigningKey> {
  // RFC 7518, section 3.3: 2048 bits or more
  const { privateKey, publicKey } = await generateKeyPairAsync('rsa', { modulusLength: 2_048 })
  const kid = randomText()
  return {
    privateKey,
    header: encodePart({ alg: 'RS256', typ: 'JWT', kid }),
    jwk: { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid },
  }
}

function encodePart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The claim that ties an access token to its id_token (OIDC Core, section 3.1.3.6). */
export function accessTokenHash(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url')
}
