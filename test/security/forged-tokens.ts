import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** The claims of a valid token. */
export interface Claims {
  readonly [claim: string]: unknown
}

export interface Forging {
  /** The key of the platform: a token that is signed with it is invalid only by its content. */
  readonly secret: string
  readonly claims: Claims
  /** An address where connections are counted. */
  readonly trap: string
}

const HEADER = { alg: 'HS256', typ: 'JWT' }
const OTHER_KEY = 'another key, of more than 32 characters!'
const KIB = 1_024

/** Signs as the platform does, or with another header, hash or key. */
export function sign(claims: unknown, secret: string, header: object = HEADER, hash = 'sha256'): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

/** Invalid tokens by what is wrong with them. */
export function forgedTokens({ secret, claims, trap }: Forging): ReadonlyMap<string, string> {
  const good = sign(claims, secret)
  const [header = '', payload = '', signature = ''] = good.split('.')
  const now = Math.floor(Date.now() / 1_000)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const changed = (change: Claims) => sign({ ...claims, ...change }, secret)
  const without = (name: string) =>
    sign(Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== name)), secret)
  return new Map([
    ['alg none', `${encode({ alg: 'none' })}.${payload}.`],
    ['alg NONE with a signature', sign(claims, secret, { alg: 'NONE' })],
    ['alg nOnE with the old signature', `${encode({ alg: 'nOnE' })}.${payload}.${signature}`],
    ['no alg', sign(claims, secret, { typ: 'JWT' })],
    ['alg null', sign(claims, secret, { alg: null })],
    ['a list of algs', sign(claims, secret, { alg: ['HS256'] })],
    ['alg in lower case', sign(claims, secret, { alg: 'hs256' })],
    ['HS384', sign(claims, secret, { alg: 'HS384' }, 'sha384')],
    ['HS512', sign(claims, secret, { alg: 'HS512' }, 'sha512')],
    ['HS256 in the header and an HMAC with SHA-512', sign(claims, secret, HEADER, 'sha512')],
    ['RS256', signAsymmetric('RS256', claims, rsa.privateKey)],
    ['ES256', signAsymmetric('ES256', claims, curve.privateKey)],
    ['RS256 in the header and an HMAC with the public key', sign(claims, publicKey, { alg: 'RS256' })],
    ['an HMAC with a public key', sign(claims, publicKey)],
    ['another key', sign(claims, OTHER_KEY)],
    ['an empty key', sign(claims, '')],
    ['the beginning of the key', sign(claims, secret.slice(0, 32))],
    [
      'other claims under the old signature',
      `${header}.${encode({ ...claims, jti: 'another' })}.${signature}`,
    ],
    ['another header under the old signature', `${encode({ ...HEADER, x: 1 })}.${payload}.${signature}`],
    ['no signature', `${header}.${payload}.`],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.${signature}`],
    ['five parts, as in an encrypted token', `${good}.${header}.${payload}`],
    ['two dots only', '..'],
    ['padding', `${good}=`],
    ['the other alphabet of base64', good.replace('eyJ', 'eyJ+/')],
    ['a signature that is too short', good.slice(0, -2)],
    ['a signature that is too long', `${good}AA`],
    ['an exp of now', changed({ exp: now })],
    ['no exp', without('exp')],
    ['an exp that is text', changed({ exp: String(now + 600) })],
    ['an exp in milliseconds that has passed', changed({ exp: now - 1, nbf: 0 })],
    ['an nbf in the future', changed({ nbf: now + 600 })],
    ['an iat in the future', changed({ iat: now + 60 })],
    ['an iat in milliseconds', changed({ iat: now * 1_000 })],
    ['no iat', without('iat')],
    ['no sub', without('sub')],
    ['an unknown sub', changed({ sub: 'nobody' })],
    ['a sub with SQL', changed({ sub: "' or 1=1 --" })],
    ['a sub that is an object', changed({ sub: { $gt: '' } })],
    ['no iss', without('iss')],
    ['another iss', changed({ iss: 'platform.example' })],
    ['an old generation', changed({ gen: 0 })],
    ['a future generation', changed({ gen: 1_000 })],
    ['a generation that is text', changed({ gen: '1' })],
    ['roles that are text', changed({ roles: 'admin' })],
    ['roles that are objects', changed({ roles: [{ admin: true }] })],
    ['another type of token', sign(claims, secret, { ...HEADER, typ: 'refresh+jwt' })],
    ['an unknown crit', sign(claims, secret, { ...HEADER, crit: ['x'], x: 1 })],
    ['b64 false', sign(claims, secret, { ...HEADER, crit: ['b64'], b64: false })],
    ['claims that are a list', sign([claims], secret)],
    ['claims that are not JSON', sign('{', secret)],
    ['claims in __proto__', sign(`{"__proto__":${JSON.stringify(claims)}}`, secret)],
    ...keysInTheHeader({ claims, trap }),
  ])
}

/** Headers that name a key, in tokens that are signed with that key. */
function keysInTheHeader({ claims, trap }: Pick<Forging, 'claims' | 'trap'>): [string, string][] {
  const named: Record<string, object> = {
    'a jwk': { jwk: { kty: 'oct', k: encode(OTHER_KEY) } },
    'a jku': { jku: `${trap}/keys.json` },
    'an x5u': { x5u: `${trap}/certificate.pem` },
    'an x5c': { x5c: ['MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA'] },
    'a kid that is a path': { kid: '../../../../../../dev/null' },
    'a kid that is SQL': { kid: "x' union select 'key' --" },
    'a kid that is an address': { kid: `${trap}/key` },
    'a kid that is a command': { kid: '| cat /etc/passwd' },
    'an iss and a jku of the sender': { jku: `${trap}/.well-known/jwks.json`, iss: trap },
  }
  return Object.entries(named).map(([name, header]) => [
    name,
    sign(claims, OTHER_KEY, { ...HEADER, ...header }),
  ])
}

/** Valid tokens but for their size. */
export function largeTokens({
  secret,
  claims,
}: Pick<Forging, 'secret' | 'claims'>): ReadonlyMap<number, string> {
  const sizes = [8, 9, 16, 64, 256, 1_024, 2_048].map((kib) => kib * KIB)
  return new Map(sizes.map((size) => [size, sign({ ...claims, filler: 'x'.repeat(size) }, secret)]))
}

function signAsymmetric(alg: string, claims: Claims, key: KeyObject): string {
  const input = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`
  const signature = createSign('sha256').update(input).sign({ key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}
