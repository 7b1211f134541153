import assert from 'node:assert/strict'
import { createHmac, createSign, generateKeyPairSync, randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { createTokens } from './jwt.ts'

const SECRET = '0123456789abcdef0123456789abcdef'
const NOW = Date.UTC(2026, 0, 31, 2)
const SECONDS = NOW / 1_000
const CLAIMS = {
  sub: 'u1',
  name: 'ada',
  roles: ['admin'],
  gen: 3,
  iss: 'platform',
  iat: SECONDS - 10,
  exp: SECONDS + 60,
  jti: 'j1',
}
const HEADER = { alg: 'HS256', typ: 'JWT' }

function world() {
  const clock = fakeClock(NOW)
  return { clock, tokens: createTokens({ secrets: [new Secret(SECRET)], clock, ttlMs: 60_000 }) }
}

const { tokens } = world()

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

function signed(payload: unknown, header: unknown = HEADER, { key = SECRET, hash = 'sha256' } = {}): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`
}

function without(claim: keyof typeof CLAIMS): object {
  return Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => name !== claim))
}

function assertRefused(token: string, what: string): void {
  assert.throws(
    () => tokens.verify(token),
    (error) =>
      error instanceof AppError && error.kind === 'unauthenticated' && error.code === 'unauthenticated',
    what,
  )
}

describe('a token of the platform', () => {
  test('carries the specified claims', () => {
    const subject = { userId: 'u1', name: 'ada', roles: ['admin', 'devops'], generation: 3 }
    const { token, expiresAt } = tokens.sign(subject)
    const [header = '', payload = ''] = token
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString())
    const { jti, ...claims } = JSON.parse(payload)
    assert.deepEqual(JSON.parse(header), HEADER)
    assert.deepEqual(claims, {
      sub: 'u1',
      name: 'ada',
      roles: ['admin', 'devops'],
      gen: 3,
      iss: 'platform',
      iat: SECONDS,
      exp: SECONDS + 60,
    })
    assert.match(jti, /^[0-9a-f-]{36}$/)
    assert.equal(expiresAt, NOW + 60_000)
    assert.deepEqual(tokens.verify(token), {
      userId: 'u1',
      roles: ['admin', 'devops'],
      generation: 3,
      tokenId: jti,
      issuedAt: NOW,
      expiresAt: NOW + 60_000,
    })
  })

  test('expires its lifetime after the whole second of its issue', () => {
    const { clock, tokens: own } = world()
    clock.advance(1)
    const { token, expiresAt } = own.sign({ userId: 'u1', name: 'ada', roles: [], generation: 1 }, 5_000)
    const { issuedAt } = own.verify(token)
    assert.deepEqual([issuedAt, expiresAt], [NOW, NOW + 5_000])
    clock.advance(4_998)
    own.verify(token)
    clock.advance(1)
    assert.throws(() => own.verify(token), /expired/)
  })

  test('may be issued by a clock that is 5 s ahead', () => {
    tokens.verify(signed({ ...CLAIMS, iat: SECONDS + 5 }))
  })

  test('may be signed by another implementation', () => {
    assert.equal(tokens.verify(signed(CLAIMS)).userId, 'u1')
    assert.equal(tokens.verify(signed(CLAIMS, { alg: 'HS256' })).userId, 'u1')
    assert.equal(tokens.verify(signed(without('gen'))).generation, undefined)
    assert.deepEqual(tokens.verify(signed(without('roles'))).roles, [])
  })
})

describe('a token is refused', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const { privateKey: curveKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const asymmetric = (alg: string, key: typeof privateKey) => {
    const input = `${encode({ alg, typ: 'JWT' })}.${encode(CLAIMS)}`
    return `${input}.${createSign('sha256').update(input).sign(key).toString('base64url')}`
  }
  const good = signed(CLAIMS)
  const [header, payload, signature] = good.split('.') as [string, string, string]

  const refused: Record<string, string> = {
    'when it is empty': '',
    'when it is any other text': 'hello',
    'with alg none and no signature': `${encode({ alg: 'none' })}.${payload}.`,
    'with alg NONE and a signature': signed(CLAIMS, { alg: 'NONE' }),
    'with alg nOnE': signed(CLAIMS, { alg: 'nOnE' }),
    'with alg hs256': signed(CLAIMS, { alg: 'hs256' }),
    'without alg': signed(CLAIMS, { typ: 'JWT' }),
    'with HS512 under the same key': signed(CLAIMS, { alg: 'HS512' }, { hash: 'sha512' }),
    'with HS384 under the same key': signed(CLAIMS, { alg: 'HS384' }, { hash: 'sha384' }),
    'with RS256': asymmetric('RS256', privateKey),
    'with ES256': asymmetric('ES256', curveKey),
    'with HS256 in the header and an RS256 signature': asymmetric('HS256', privateKey),
    'under another key': signed(CLAIMS, HEADER, { key: 'another secret of thirty-two byte' }),
    'under an empty key': signed(CLAIMS, HEADER, { key: '' }),
    'once it has expired': signed({ ...CLAIMS, exp: SECONDS }),
    'before nbf': signed({ ...CLAIMS, nbf: SECONDS + 1 }),
    'with an nbf that is not a number': signed({ ...CLAIMS, nbf: 'now' }),
    'without exp': signed(without('exp')),
    'with an exp that is text': signed({ ...CLAIMS, exp: String(SECONDS + 60) }),
    'with an infinite exp': signed(JSON.stringify(CLAIMS).replace(/"exp":\d+/, '"exp":1e999')),
    'issued more than 5 s in the future': signed({ ...CLAIMS, iat: SECONDS + 5.001 }),
    'without iat': signed(without('iat')),
    'without sub': signed(without('sub')),
    'with an empty sub': signed({ ...CLAIMS, sub: '' }),
    'with a sub that is a number': signed({ ...CLAIMS, sub: 1 }),
    'without iss': signed(without('iss')),
    'of another issuer': signed({ ...CLAIMS, iss: 'Platform' }),
    'of a list of issuers': signed({ ...CLAIMS, iss: ['platform'] }),
    'with roles that are not a list': signed({ ...CLAIMS, roles: 'admin' }),
    'with roles that are not text': signed({ ...CLAIMS, roles: [{ admin: true }] }),
    'with a generation that is not a number': signed({ ...CLAIMS, gen: '3' }),
    'with an unknown crit': signed(CLAIMS, { ...HEADER, crit: ['x'], x: 1 }),
    'with an empty crit': signed(CLAIMS, { ...HEADER, crit: [] }),
    'with b64 false': signed(CLAIMS, { ...HEADER, crit: ['b64'], b64: false }),
    'of another type': signed(CLAIMS, { ...HEADER, typ: 'refresh+jwt' }),
    'with its signature stripped': `${header}.${payload}.`,
    'with its signature and dot stripped': `${header}.${payload}`,
    'with a signature too short': good.slice(0, -1),
    'with a signature too long': `${good}A`,
    'with padding': `${good}=`,
    'with a space': `${good} `,
    'with four parts': `${good}.${signature}`,
    'with two tokens': `${good},${good}`,
    'with a payload that is not an object': signed('[]'),
    'with a payload that is not JSON': signed('{'),
    'with a header that is not JSON': signed(CLAIMS, '{'),
    'with a header that is null': signed(CLAIMS, 'null'),
    'with a header that is a list': signed(CLAIMS, '[]'),
    'when it is longer than 8 KiB': signed({ ...CLAIMS, filler: 'x'.repeat(16 * 1_024) }),
    'when it is 2 MB long': signed({ ...CLAIMS, filler: 'x'.repeat(2_000_000) }),
  }
  for (const [what, token] of Object.entries(refused)) test(what, () => assertRefused(token, what))

  test('with any one bit flipped', () => {
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(good)
      const at = randomInt(bytes.length)
      bytes[at] = (bytes[at] as number) ^ (1 << randomInt(8))
      assertRefused(bytes.toString('latin1'), `byte ${at} of ${good} as ${bytes[at]}`)
    }
  })

  test('with any other last character, also one that decodes to the same bytes', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const last of alphabet) if (last !== good.at(-1)) assertRefused(good.slice(0, -1) + last, last)
  })
})

describe('a token does not choose its key', () => {
  const headers: Record<string, object> = {
    kid: { kid: "../../../../dev/null' or 1=1 --" },
    jku: { jku: 'http://127.0.0.1:1/keys' },
    x5u: { x5u: 'http://127.0.0.1:1/cert' },
    x5c: { x5c: ['MIIB'] },
    jwk: { jwk: { kty: 'oct', k: encode('another secret of thirty-two byte') } },
  }
  for (const [name, extra] of Object.entries(headers)) {
    test(`${name} is ignored`, () => {
      assert.equal(tokens.verify(signed(CLAIMS, { ...HEADER, ...extra })).userId, 'u1')
      const forged = signed(CLAIMS, { ...HEADER, ...extra }, { key: 'another secret of thirty-two byte' })
      assertRefused(forged, name)
    })
  }
})

test('a payload cannot reach the prototype', () => {
  const payload = JSON.stringify(CLAIMS).replace('{', '{"__proto__":{"roles":["admin"],"polluted":true},')
  tokens.verify(signed(payload))
  assert.equal('polluted' in {}, false)
})

test('the error does not say why a forged token was refused', () => {
  const messages = new Set<string>()
  for (const token of ['', 'x.y.z', signed(CLAIMS, HEADER, { key: 'x' }), signed(CLAIMS, { alg: 'HS512' })]) {
    try {
      tokens.verify(token)
    } catch (error) {
      messages.add((error as Error).message)
    }
  }
  assert.deepEqual([...messages], ['The token is not valid.'])
})

test('a secret shorter than 32 bytes is refused', () => {
  const clock = fakeClock(NOW)
  assert.throws(
    () => createTokens({ secrets: [new Secret('x'.repeat(31))], clock, ttlMs: 1_000 }),
    /32 bytes/,
  )
})

test('the first key signs, and every key verifies', () => {
  const clock = fakeClock(NOW)
  const [former, current] = [new Secret(SECRET), new Secret('fedcba9876543210fedcba9876543210')]
  const rotated = createTokens({ secrets: [current, former], clock, ttlMs: 60_000 })
  const subject = { userId: 'u1', name: 'ada', roles: ['admin'], generation: 3 } as const
  assert.equal(rotated.verify(tokens.sign(subject).token).userId, 'u1')
  const { token } = rotated.sign(subject)
  assert.equal(createTokens({ secrets: [current], clock, ttlMs: 60_000 }).verify(token).userId, 'u1')
  assertRefused(token, 'by a process that has the former key alone')
})
