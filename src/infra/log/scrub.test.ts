import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { REDACTED } from '../../kernel/secret.ts'
import { scrubText } from './scrub.ts'

const CANARY = 'kAnAr1+9/Zq7wXe'

test('a secret after its name is never printed, for any text around it', () => {
  const around = fc.string({ unit: fc.constantFrom(...'ab1 ,;:=&?"\'{}[]()\\/%\n'.split('')), maxLength: 12 })
  const name = fc.constantFrom('password', 'access_token', 'client-secret', 'X-Api-Key', 'code_verifier')
  const joint = fc.constantFrom('=', ': ', '":"', '\\":\\"', "': '", '%3D', '=>')
  fc.assert(
    fc.property(around, name, joint, around, (before, key, separator, after) => {
      const scrubbed = scrubText(`${before} ${key}${separator}${CANARY} ${after}`)
      assert.ok(!scrubbed.includes(CANARY.slice(-6)) && !scrubbed.includes(CANARY.slice(0, 6)), scrubbed)
    }),
    { numRuns: 1_000 },
  )
})

test('prose about secrets stays readable', () => {
  for (const text of [
    'password: must have 12 to 256 characters',
    'the token has expired',
    'Bearer token missing',
    'Basic authentication is not supported',
    'connect ECONNREFUSED 127.0.0.1:4222',
    'nats://127.0.0.1:4222 is away, code=ECONNREFUSED',
    'mail from bob@example.org at 12:30',
    'sha256 digest: abc123',
    'file /var/lib/platform/jwt-secret: auth.jwt_secret: expected 32 bytes, got 3',
    'environment AUTH_JWT_SECRET: auth.jwt_secret: expected a text',
    'cannot use /var/lib/platform/jwt-secret: put your copy back',
    '/etc/platform/drive-token.json: mode 644: the routine refuses it',
    'auth.jwt_secret: set it on every host',
  ]) {
    assert.equal(scrubText(text), text)
  }
})

test('a path and the words of an error do not uncover a secret behind them', () => {
  for (const text of [
    `username/password: ${CANARY}`,
    `/etc/platform/jwt-secret=${CANARY}`,
    `https://host/token: ${CANARY}`,
    `/etc/env: password: ${CANARY}`,
    `token: ${CANARY}: expected another`,
  ])
    assert.ok(!scrubText(text).includes(CANARY), scrubText(text))
})

test('the text around a secret stays readable', () => {
  assert.equal(scrubText('GET /cb?a=1&token=xyz&b=2 failed'), `GET /cb?a=1&token=${REDACTED}&b=2 failed`)
  assert.equal(scrubText('nats://bob:xyz@bus:4222 refused'), `nats://${REDACTED}@bus:4222 refused`)
  assert.equal(scrubText('{"password":"xyz","user":"bob"}'), `{"password":"${REDACTED}","user":"bob"}`)
})

test('a long text is cut, and its length is printed', () => {
  const scrubbed = scrubText('word '.repeat(100_000))
  assert.ok(scrubbed.length < 8_300)
  assert.ok(scrubbed.endsWith('… [500000 characters]'))
})

test('control characters and changes of direction become visible', () => {
  assert.equal(
    scrubText('a\u001b[31mred\u001b[0m\u009b31m\u202egpj\u2028x\u0000'),
    'ared\\u009b31m\\u202egpj\\u2028x\\u0000',
  )
  assert.equal(scrubText('two\n\tlines, 中文 and 👩‍👧'), 'two\n\tlines, 中文 and 👩‍👧')
})

test('the whole cookie line is hidden, also when a part of it was hidden before', () => {
  const text = scrubText('Cookie: $2b$12$abcdefghijklmnopqrstuv; sid=CANARY')
  assert.doesNotMatch(text, /CANARY/)
  assert.equal(scrubText(text), text)
})
