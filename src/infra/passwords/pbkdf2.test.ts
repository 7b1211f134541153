import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { createPasswords } from './pbkdf2.ts'

const quick = createPasswords({ iterations: 1 })

function stored(iterations: number, salt: string, hexHash: string): string {
  const hash = Buffer.from(hexHash, 'hex').toString('base64url')
  return `pbkdf2-sha256$${iterations}$${Buffer.from(salt).toString('base64url')}$${hash}`
}

// The first two: RFC 7914, section 11.
const VECTORS = [
  {
    password: 'passwd',
    hash: stored(
      1,
      'salt',
      '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783',
    ),
  },
  {
    password: 'Password',
    hash: stored(
      80_000,
      'NaCl',
      '4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d',
    ),
  },
  {
    password: 'correct horse',
    hash: stored(
      600_000,
      '0123456789abcdef',
      '91828083f760ed60bb550e24f3e89aa29bbcb27c4219d034c4c4f03c2e6db9d9',
    ),
  },
]

describe('hashes of other implementations', () => {
  for (const { password, hash } of VECTORS) {
    test(`the published hash of ${JSON.stringify(password)} matches only that password`, async () => {
      assert.equal((await quick.verify(password, hash)).matches, true)
      assert.equal((await quick.verify(`${password} `, hash)).matches, false)
    })
  }
})

test('a hash has at least 600 000 iterations, 16 bytes of salt and 32 of hash', async () => {
  const hash = await createPasswords().hash('a long enough password')
  const [, iterations, salt, key] = /^pbkdf2-sha256\$(\d+)\$([\w-]+)\$([\w-]+)$/.exec(hash) ?? []
  assert.ok(Number(iterations) >= 600_000)
  assert.ok(Buffer.from(salt ?? '', 'base64url').length >= 16)
  assert.equal(Buffer.from(key ?? '', 'base64url').length, 32)
})

test('two hashes of the same password differ', async () => {
  assert.notEqual(await quick.hash('a password'), await quick.hash('a password'))
})

test('a password matches its hash', async () => {
  for (const password of ['a password', 'pä$$wörd \u{1f511}', 'x'.repeat(1_024), '\u0000']) {
    assert.deepEqual(await quick.verify(password, await quick.hash(password)), {
      matches: true,
      outdated: false,
    })
  }
})

test('a long password is not truncated', async () => {
  const hash = await quick.hash('x'.repeat(256))
  assert.equal((await quick.verify('x'.repeat(255), hash)).matches, false)
})

test('a hash with fewer iterations is outdated, one with more is not', async () => {
  const [weak, strong] = [createPasswords({ iterations: 1 }), createPasswords({ iterations: 2 })]
  assert.deepEqual(await strong.verify('a password', await weak.hash('a password')), {
    matches: true,
    outdated: true,
  })
  assert.deepEqual(await weak.verify('a password', await strong.hash('a password')), {
    matches: true,
    outdated: false,
  })
})

test('an unreadable hash matches no password', async () => {
  const good = await quick.hash('a password')
  const broken = [
    '',
    'a password',
    good.slice(0, -30),
    good.replace('sha256', 'sha1'),
    good.replace('$1$', '$0$'),
    good.replace('$1$', '$-1$'),
    good.replace('$1$', '$99999999$'),
    good.replace('$1$', '$1e3$'),
    `${good}$`,
    `${good}\n`,
    good.replaceAll('$', ':'),
  ]
  for (const hash of broken) {
    assert.deepEqual(await quick.verify('a password', hash), { matches: false, outdated: false }, hash)
  }
})

test('a derivation beyond the queue is refused, and accepted again once the queue is shorter', async () => {
  const passwords = createPasswords({ iterations: 1_000, concurrency: 2, queueLimit: 3 })
  const accepted = Array.from({ length: 5 }, () => passwords.hash('a password'))
  for (const refused of [
    passwords.hash('six'),
    passwords.verify('six', 'unreadable'),
    passwords.waste('six'),
  ])
    await assert.rejects(refused, isBusy)
  await Promise.all(accepted)
  await passwords.waste('six')
})

function isBusy(error: unknown): boolean {
  return error instanceof AppError && error.code === 'rate_limited' && error.retryAfterSeconds === 1
}
