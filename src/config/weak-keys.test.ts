import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { isGuessable, isPlaceholder } from './weak-keys.ts'

const PLACEHOLDERS = [
  'changeme'.repeat(4),
  'Changeme-'.repeat(5),
  'your-256-bit-secret-your-256-bit-secret',
  'a-string-secret-at-least-256-bits-long',
  'please-change-me-please-change-me',
  'this-is-a-very-secret-key-change-me-in-production',
  'THIS_IS_A_SECRET_KEY_CHANGE_IT_IN_PRODUCTION',
  'insecure-development-secret-do-not-use',
]

const OTHER_GUESSABLE = [
  'a'.repeat(32),
  '0'.repeat(64),
  ' '.repeat(40),
  'ab'.repeat(16),
  'secret'.repeat(6),
  'supersecretsupersecretsupersecret',
  '0123456789abcdef0123456789abcdef',
  '12345678901234567890123456789012',
  'abcdefghijklmnopqrstuvwxyz123456',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345',
  'abcdefghijklmnopqrstuvwxyz0123456789',
  'my-super-secret-jwt-key-for-development',
  'my_jwt_secret_key_my_jwt_secret_key',
  'secret-key-at-least-32-characters!!',
]

for (const key of PLACEHOLDERS)
  test(`"${key}" is a placeholder, and guessable`, () =>
    assert.deepEqual([isPlaceholder(key), isGuessable(key)], [true, true]))

for (const key of OTHER_GUESSABLE)
  test(`"${key}" is guessable, but no placeholder`, () =>
    assert.deepEqual([isPlaceholder(key), isGuessable(key)], [false, true]))

test('a key that contains the word of a placeholder among its own is none', () =>
  assert.equal(isPlaceholder('your nine blue teapots change the horse'), false))

test('random keys are not, in any common encoding', () => {
  for (let round = 0; round < 2_000; round++) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const secret = randomBytes(32).toString(encoding)
      assert.equal(isGuessable(secret), false, secret)
    }
    assert.equal(isGuessable(randomBytes(16).toString('hex')), false)
  }
})

test('an uncommon sentence is not', () => {
  for (const secret of [
    'correct horse battery staple and nine blue teapots',
    'Zwölf Boxkämpfer jagen Viktor quer',
  ])
    assert.equal(isGuessable(secret), false, secret)
})

test('a secret of a megabyte is checked quickly', () => {
  assert.equal(isGuessable('ab'.repeat(500_000)), true)
  assert.equal(isGuessable(randomBytes(500_000).toString('hex')), false)
})
