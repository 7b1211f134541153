// JSON Web Signatures (RFC 7515) with HMAC-SHA256. Synchronous, because the HMAC of a token takes a few microseconds,
// and a library that verifies on the thread pool takes a turn of the event loop.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Secret } from '../../kernel/secret.ts'

const ALGORITHM = 'HS256'
// RFC 7518, section 3.2: at least as long as the hash.
const KEY_BYTES = 32
// The last character of a 32-byte signature has two bits that base64 readers ignore. Here they are zero, so that a
// signature has one spelling only.
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** Throws for a secret of less than 32 bytes. */
export function createHs256Key(secret: Secret): KeyObject {
  const bytes = Buffer.from(secret.reveal())
  if (bytes.length < KEY_BYTES)
    throw new RangeError(`The secret of the tokens must have at least ${KEY_BYTES} bytes.`)
  return createSecretKey(bytes)
}

export function signCompact(payload: object, key: KeyObject): string {
  const input = `${encode({ alg: ALGORITHM, typ: 'JWT' })}.${encode(payload)}`
  return `${input}.${hmac(input, key).toString('base64url')}`
}

/**
 * The payload of a token that one of the keys has signed, as parsed JSON; undefined for any other text. The token chooses
 * neither key nor algorithm: nothing of it is parsed before the signature has been verified (RFC 8725, section 3.1).
 */
export function verifyCompact(token: string, keys: readonly KeyObject[]): unknown {
  if (!COMPACT.test(token)) return undefined
  const [header = '', payload = '', signature = ''] = token.split('.')
  const input = `${header}.${payload}`
  const given = Buffer.from(signature, 'base64url')
  if (!keys.some((key) => timingSafeEqual(hmac(input, key), given))) return undefined
  try {
    return isSupported(decode(header)) ? decode(payload) : undefined
  } catch {
    return undefined
  }
}

/** Whether this verifier does all that a header demands. */
function isSupported(header: unknown): boolean {
  const { alg, typ = 'JWT', crit } = header as Readonly<Record<string, unknown>>
  // A token of another kind, such as a refresh token, names its kind here (RFC 8725, section 3.11).
  const isJwt = typeof typ === 'string' && typ.toUpperCase() === 'JWT'
  return alg === ALGORITHM && isJwt && crit === undefined
}

function hmac(input: string, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(input).digest()
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
