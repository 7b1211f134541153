import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, type TokenFault } from '../../kernel/errors.ts'
import { TOKEN_PURPOSES, type TokenPurpose } from '../../kernel/identity.ts'
import { newId } from '../../kernel/ids.ts'
import type { RotatedKeys, Secret } from '../../kernel/secret.ts'
import { SECOND } from '../../kernel/time.ts'
import type { TokenClaims, TokenIssuer } from '../../ports/authentication.ts'

export interface TokenOptions {
  /** The HMAC keys as text, each of at least 32 bytes. */
  readonly secrets: RotatedKeys
  readonly clock: Clock
  /** From issue to expiry in milliseconds, unless {@link Tokens.sign} is given another. */
  readonly ttlMs: number
}

/** The JWTs of the platform: HS256 only. */
export interface Tokens extends TokenIssuer {
  /** Throws `unauthenticated` unless the token is valid now. Does not know whether its user still accepts it. */
  verify(token: string): TokenClaims
}

const ISSUER = 'platform'
// docs/specification.md, Gateway
const TOKEN_LIMIT = 8 * 1_024
// Another program that signs tokens may have a clock that is a little ahead.
const FUTURE_LEEWAY_MS = 5 * SECOND
/** What can stand in a header. */
const TOKEN_ID = /^[\x21-\x7e]{1,128}$/

export function createTokens({ secrets, clock, ttlMs }: TokenOptions): Tokens {
  const [current, ...former] = secrets
  const key = createHs256Key(current)
  const keys = [key, ...former.map(createHs256Key)]
  return {
    sign({ userId, name, roles, generation, purpose, method }, lifetimeMs = ttlMs) {
      const iat = Math.floor(clock.now() / SECOND)
      // Readers take the difference for the lifetime.
      const exp = iat + Math.ceil(lifetimeMs / SECOND)
      const claims = {
        name,
        roles,
        gen: generation,
        purpose,
        amr: method && [method],
        sub: userId,
        iss: ISSUER,
        iat,
        exp,
        jti: newId(),
      }
      return { token: signCompact(claims, key), expiresAt: exp * SECOND }
    },

    verify(token) {
      const payload = token.length > TOKEN_LIMIT ? undefined : verifyCompact(token, keys)
      if (!isPlatformPayload(payload)) throw invalid()
      requireValidNow(payload, clock.now())
      const { sub, roles = [], gen, purpose, iat, exp, jti } = payload
      const times = { issuedAt: iat * SECOND, expiresAt: exp * SECOND }
      const tokenId = typeof jti === 'string' && TOKEN_ID.test(jti) ? jti : undefined
      return { userId: sub, roles, generation: gen, tokenId, ...(purpose && { purpose }), ...times }
    },
  }
}

/** RFC 7519, section 4.1; times in epoch seconds, perhaps with a fraction. */
interface Payload {
  readonly iss: string
  readonly sub: string
  readonly iat: number
  readonly exp: number
  readonly nbf?: number
  readonly roles?: readonly string[]
  readonly gen?: number
  readonly purpose?: TokenPurpose
  readonly jti?: unknown
}

const CLAIMS: Readonly<Record<keyof Payload, (value: unknown) => boolean>> = {
  iss: (value) => value === ISSUER,
  sub: (value) => typeof value === 'string' && value !== '',
  iat: isTime,
  exp: isTime,
  nbf: optional(isTime),
  roles: optional((value) => Array.isArray(value) && value.every((role) => typeof role === 'string')),
  gen: optional(Number.isSafeInteger),
  // Any value is accepted: a token of another program without a usable id can just not be ended alone.
  jti: () => true,
  // A token for an unknown purpose is refused.
  purpose: optional((value) => (TOKEN_PURPOSES as readonly unknown[]).includes(value)),
}

function isPlatformPayload(payload: unknown): payload is Payload {
  if (typeof payload !== 'object' || payload === null) return false
  const claims = payload as Readonly<Record<string, unknown>>
  return Object.entries(CLAIMS).every(([name, check]) => check(claims[name]))
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(Math.trunc(value * SECOND))
}

function optional(check: (value: unknown) => boolean) {
  return (value: unknown) => value === undefined || check(value)
}

function requireValidNow({ exp, nbf = 0, iat }: Payload, now: number): void {
  if (exp * SECOND <= now) throw unauthenticatedError('The token has expired; sign in again.', 'expired')
  // Whole seconds, as other verifiers count them.
  if (nbf > Math.floor(now / SECOND) || iat * SECOND > now + FUTURE_LEEWAY_MS) throw invalid()
}

/** The message does not say why: the sender of a forged token would learn from it. */
function invalid(): AppError {
  return unauthenticatedError('The token is not valid.', 'invalid')
}

function unauthenticatedError(message: string, tokenFault: TokenFault): AppError {
  return new AppError('unauthenticated', 'unauthenticated', message, { tokenFault })
}

// JSON Web Signatures (RFC 7515) with HMAC-SHA256. Synchronous, because the HMAC of a token takes a few microseconds,
// and a library that verifies on the thread pool takes a turn of the event loop.

const ALGORITHM = 'HS256'
// RFC 7518, section 3.2: at least as long as the hash.
const KEY_BYTES = 32
// The last character of a 32-byte signature has two bits that base64 readers ignore. Here they are zero, so that a
// signature has one spelling only.
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** Throws for a secret of less than 32 bytes. */
function createHs256Key(secret: Secret): KeyObject {
  const bytes = Buffer.from(secret.reveal())
  if (bytes.length < KEY_BYTES)
    throw new RangeError(`The secret of the tokens must have at least ${KEY_BYTES} bytes.`)
  return createSecretKey(bytes)
}

function signCompact(payload: object, key: KeyObject): string {
  const input = `${encode({ alg: ALGORITHM, typ: 'JWT' })}.${encode(payload)}`
  return `${input}.${hmac(input, key).toString('base64url')}`
}

/**
 * The payload of a token that one of the keys has signed, as parsed JSON; undefined for any other text. The token chooses
 * neither key nor algorithm: nothing of it is parsed before the signature has been verified (RFC 8725, section 3.1).
 */
function verifyCompact(token: string, keys: readonly KeyObject[]): unknown {
  if (!COMPACT.test(token)) return undefined
  const [header = '', payload = '', signature = ''] = token.split('.')
  const input = `${header}.${payload}`
  const mac = Buffer.from(signature, 'base64url')
  if (!keys.some((key) => timingSafeEqual(hmac(input, key), mac))) return undefined
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
