import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { configErrorLines, configFiles } from '../../test/support/config-files.ts'
import { describeConfig, type LoadedConfig } from './config.ts'
import { isGuessable, isPlaceholder } from './signing-keys.ts'

const { load } = configFiles()
const newKey = () => randomBytes(48).toString('base64')
const [current, former] = [newKey(), newKey()]
const toml = (...keys: readonly unknown[]) => `auth.jwt_secret = ${JSON.stringify(keys)}\n`
const keysOf = ({ config }: LoadedConfig) => config.auth.jwtSecrets?.map((key) => key.reveal())

test('one key is a list of one, in the file and in the environment', () => {
  assert.deepEqual(keysOf(load(`auth.jwt_secret = "${current}"\n`)), [current])
  assert.deepEqual(keysOf(load(toml(current))), [current])
  assert.deepEqual(keysOf(load('', { JWT_SECRET: current })), [current])
})

test('several keys are an array in the file, and a JSON array in the environment', () => {
  assert.deepEqual(keysOf(load(toml(current, former))), [current, former])
  assert.deepEqual(keysOf(load('', { JWT_SECRET: JSON.stringify([current, former]) })), [current, former])
})

test('a comma is part of a key', () => {
  const key = `${current},${former}`
  assert.deepEqual(keysOf(load('', { JWT_SECRET: key })), [key])
})

test('`platform config` masks each key', () => {
  const line = /^auth\.jwt_secret +(.*?) +file /m
  assert.equal(line.exec(describeConfig(load(toml(current, former))))?.[1], '[**redacted**, **redacted**]')
  assert.equal(line.exec(describeConfig(load(toml(current))))?.[1], '**redacted**')
})

test('a key that is too short, a placeholder or no text is refused with its index, and is not shown', () => {
  for (const wrong of ['canary', 'changeme'.repeat(5), 7, '']) {
    for (const lines of [
      configErrorLines(() => load(toml(current, wrong))),
      configErrorLines(() => load('', { JWT_SECRET: JSON.stringify([current, wrong]) })),
    ]) {
      assert.equal(lines.length, 1)
      assert.match(lines[0] ?? '', /: auth\.jwt_secret\[1\]: expected a secret of at least 32 bytes [^,]*$/)
      assert.doesNotMatch(lines[0] ?? '', /canary|changeme/)
    }
  }
})

test('an empty array, a repeated key, a ninth key and an array that is no JSON are refused', () => {
  const nine = Array.from({ length: 9 }, newKey)
  for (const lines of [
    configErrorLines(() => load(toml())),
    configErrorLines(() => load(toml(current, current))),
    configErrorLines(() => load(toml(...nine))),
    configErrorLines(() => load('', { JWT_SECRET: `[${current}, ${former}]` })),
  ])
    assert.match(lines.join('\n'), /: auth\.jwt_secret: expected .* or an array of 1 to 8 different ones$/)
  assert.equal(keysOf(load(toml(...nine.slice(1))))?.length, 8)
})

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
