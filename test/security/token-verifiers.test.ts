// The platform verifies its tokens without a library. Here it is compared with one that is used everywhere.
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { jwtVerify, SignJWT } from 'jose'
import { createTokens } from '../../src/infra/tokens/jwt.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { chanceOf, type Chance } from '../support/random.ts'
import { forgedTokens, sign, type Claims } from './forged-tokens.ts'

const ROUNDS = 2_000
const HOUR_SECONDS = 3_600

const secret = randomBytes(48).toString('base64url')
const key = createSecretKey(Buffer.from(secret))
const tokens = createTokens({
  secrets: [new Secret(secret)],
  clock: systemClock,
  ttlMs: HOUR_SECONDS * 1_000,
})
const now = Math.floor(Date.now() / 1_000)
const claims = {
  sub: 'u1',
  name: 'ada',
  roles: ['admin'],
  gen: 1,
  iss: 'platform',
  iat: now,
  exp: now + HOUR_SECONDS,
}

function accepts(token: string): boolean {
  try {
    tokens.verify(token)
    return true
  } catch {
    return false
  }
}

function libraryAccepts(token: string): Promise<boolean> {
  const rules = { algorithms: ['HS256'], issuer: 'platform', requiredClaims: ['sub', 'iat', 'exp'] }
  return jwtVerify(token, key, rules).then(
    () => true,
    () => false,
  )
}

test('each side accepts the tokens that the other one signs', async () => {
  const subject = { userId: 'u1', name: 'ada', roles: ['admin'], generation: 1 }
  assert.ok(await libraryAccepts(tokens.sign(subject).token))
  const signed = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
  assert.ok(accepts(await signed.sign(key)))
})

describe('a token that the library refuses is refused', () => {
  for (const [name, forged] of forgedTokens({ secret, claims, trap: 'http://127.0.0.1:1' })) {
    test(name, async () => {
      if (accepts(forged)) assert.ok(await libraryAccepts(forged))
    })
  }

  test(`in ${ROUNDS} tokens with a changed header and changed claims`, async (t) => {
    const chance = chanceOf(t)
    let accepted = 0
    for (let round = 0; round < ROUNDS; round++) {
      const token = sign(changed(claims, chance), secret, changed({ alg: 'HS256', typ: 'JWT' }, chance))
      if (!accepts(token)) continue
      accepted++
      assert.ok(await libraryAccepts(token), token)
    }
    t.diagnostic(`accepted by both: ${accepted}`)
    assert.ok(accepted > 0)
  })
})

const NAMES = ['sub', 'iss', 'iat', 'exp', 'nbf', 'roles', 'gen', 'alg', 'typ', 'crit', 'b64', 'kid', 'zip']
const VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  'platform',
  'HS256',
  'none',
  'JWT',
  'jwt',
  true,
  false,
  0,
  -1,
  1e21,
  now - 1,
  now + 60,
  now + 0.5,
  String(now + 60),
  [],
  ['b64'],
  ['admin'],
  {},
]

/** With one member or two of other values, or without them. */
function changed(good: Claims, chance: Chance): Claims {
  const changes = Array.from({ length: chance.between(0, 2) }, () => [
    chance.pick(NAMES),
    chance.pick(VALUES),
  ])
  return { ...good, ...(Object.fromEntries(changes) as Claims) }
}
