import { createSecretKey } from 'node:crypto'
import { errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { Clock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { TokenClaims } from '../../ports/authenticator.ts'

export interface TokenOptions {
  /** The HMAC key as text; at least 32 bytes (RFC 7518, section 3.2). */
  readonly secret: Secret
  readonly clock: Clock
  /** From issue to expiry, in milliseconds, unless {@link Tokens.sign} is given another. */
  readonly ttlMs: number
}

/** Whom a token is for. */
export interface TokenSubject {
  readonly userId: string
  readonly name: string
  readonly roles: readonly string[]
  /** The token ends when the user's generation is raised above this. */
  readonly generation: number
}

export interface SignedToken {
  readonly token: string
  /** Epoch milliseconds, on a whole second. */
  readonly expiresAt: number
}

/** JWTs of the platform: HS256 and nothing else (contract, Identity). */
export interface Tokens {
  sign(subject: TokenSubject, ttlMs?: number): Promise<SignedToken>
  /** Rejects with `unauthenticated` for anything but a good token that is valid now; there is no leeway. */
  verify(token: string): Promise<TokenClaims>
}

const ALGORITHM = 'HS256'
const ISSUER = 'platform'
const KEY_BYTES = 32
// contract, section 5: a token is at most 8 KiB
const TOKEN_LIMIT = 8 * 1_024
// Base64 readers ignore the two bits that the last character of a 32-byte signature has too many; here they are zero,
// so that one signature has one writing.
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

export function createTokens({ secret, clock, ttlMs }: TokenOptions): Tokens {
  const key = hmacKey(secret)
  return {
    async sign({ userId, name, roles, generation }, lifetimeMs = ttlMs) {
      const now = clock.now()
      const expiry = Math.ceil((now + lifetimeMs) / 1_000)
      const token = await new SignJWT({ name, roles: [...roles], gen: generation })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setSubject(userId)
        .setIssuer(ISSUER)
        .setIssuedAt(Math.floor(now / 1_000))
        .setExpirationTime(expiry)
        .setJti(newId())
        .sign(key)
      return { token, expiresAt: expiry * 1_000 }
    },

    async verify(token) {
      if (token.length > TOKEN_LIMIT || !COMPACT.test(token)) throw invalid()
      const { payload, protectedHeader } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        requiredClaims: ['sub', 'iat', 'exp'],
        clockTolerance: 0,
        currentDate: new Date(clock.now()),
      }).catch(refused)
      // A token of another kind, such as a refresh token, names its kind here (RFC 8725, section 3.11).
      if ((protectedHeader.typ ?? 'JWT').toUpperCase() !== 'JWT') throw invalid()
      return toClaims(payload)
    },
  }
}

function hmacKey(secret: Secret) {
  const bytes = Buffer.from(secret.reveal())
  if (bytes.length < KEY_BYTES)
    throw new RangeError(`The secret of the tokens must have at least ${KEY_BYTES} bytes.`)
  // Any other kind of key would be made into this one for each token.
  return createSecretKey(bytes).toCryptoKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function toClaims({ sub, roles = [], gen, iat, exp }: JWTPayload): TokenClaims {
  if (!isText(sub) || !isTextList(roles) || !isOptionalInteger(gen) || !isTime(iat) || !isTime(exp))
    throw invalid()
  return { userId: sub, roles, generation: gen, issuedAt: iat * 1_000, expiresAt: exp * 1_000 }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isOptionalInteger(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value)
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(Math.trunc(value * 1_000))
}

function refused(error: unknown): never {
  if (error instanceof errors.JWTExpired)
    throw unauthenticated('The token has expired; sign in again.', error)
  throw invalid(error)
}

/** Why exactly is nothing that the sender of a forged token should learn. */
function invalid(cause?: unknown): AppError {
  return unauthenticated('The token is not valid.', cause)
}

function unauthenticated(message: string, cause?: unknown): AppError {
  return new AppError('unauthenticated', 'unauthenticated', message, { cause })
}
