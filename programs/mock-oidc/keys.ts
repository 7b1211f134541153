import { generateKeyPair, hash, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { randomText } from '../mock-server/random-text.ts'

interface SigningKey {
  readonly privateKey: KeyObject
  readonly header: string
  readonly jwk: Readonly<Record<string, unknown>>
}

const generateKeyPairAsync = promisify(generateKeyPair)
const signAsync = promisify(sign)

/** The keys of the id_tokens: the current one, which is generated from the beginning on, and the previous one. */
export class SigningKeys {
  #current = generateSigningKey()
  #previous: SigningKey | undefined

  /** The JWK set as text (RFC 7517). */
  async jwks(): Promise<string> {
    const key = await this.#current
    return JSON.stringify({ keys: [key, this.#previous].flatMap((each) => (each ? [each.jwk] : [])) })
  }

  /** A JWT of these claims (RS256), signed off the event loop. */
  async sign(claims: Readonly<Record<string, unknown>>): Promise<string> {
    const { header, privateKey } = await this.#current
    const content = `${header}.${encodePart(claims)}`
    const signature = await signAsync('sha256', Buffer.from(content), privateKey)
    return `${content}.${signature.toString('base64url')}`
  }

  /** Replaces the current key; the set keeps only that one as the previous key. */
  async rotate(): Promise<void> {
    const retired = await this.#current
    const next = await generateSigningKey()
    this.#previous = retired
    this.#current = Promise.resolve(next)
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
