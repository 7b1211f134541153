import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto'

/** What the servers of a benchmark are started with. */
export const JWT_SECRET = 'Yk3vQm8Zt1Lw6Rb9Xc4Nf7Hs2Jp5Dg0A'

const KEY = createSecretKey(Buffer.from(JWT_SECRET))
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })
const ISSUER = 'platform'
const LIFETIME_SECONDS = 3_600

/** A token as the platform makes them; no two are alike. */
export function signToken(userId: string): string {
  const now = Math.floor(Date.now() / 1_000)
  const claims = { sub: userId, name: userId, roles: ['service'], iss: ISSUER, jti: randomUUID() }
  const input = `${HEADER}.${encode({ ...claims, iat: now, exp: now + LIFETIME_SECONDS })}`
  return `${input}.${signatureOf(input).toString('base64url')}`
}

/** The id of the user that a token names; undefined unless its algorithm, signature, issuer and time are right. */
export function verifyToken(token: string): string | undefined {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { alg } = decode(header)
  const given = Buffer.from(signature, 'base64url')
  const expected = signatureOf(`${header}.${payload}`)
  if (alg !== 'HS256' || given.length !== expected.length || !timingSafeEqual(given, expected))
    return undefined
  const { iss, exp, sub } = decode(payload)
  return iss === ISSUER && Number(exp) > Date.now() / 1_000 ? String(sub) : undefined
}

/** The token of an `Authorization` header; empty when there is none. */
export function bearerOf(authorization = ''): string {
  return authorization.slice('Bearer '.length)
}

function signatureOf(input: string): Buffer {
  return createHmac('sha256', KEY).update(input).digest()
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>
}
