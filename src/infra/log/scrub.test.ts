import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { REDACTED } from '../../kernel/secret.ts'
import { scrubText, isSecretName } from './scrub.ts'

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

const SECRET_NAMES = (
  'password PASSWORD Passwd user_password passwordConfirmation newPassword password2 passphrase pwd secret jwt_secret ' +
  'jwtSecret JWT-SECRET client_secret clientSecret token access_token accessToken refresh-token id_token csrfToken ' +
  'x-auth-token tokens token_value authorization Proxy-Authorization cookie Set-Cookie set_cookie cookies api_key ' +
  'apiKey X-API-Key private_key privateKey signing-key encryptionKey jwt hash password_hash passwordHash pem key_pem ' +
  'proof proof_code code_verifier codeVerifier client_assertion credential credentials webhook webhook_url webhookUrl ' +
  'robot_url robot.url smtp_pass_secret pass otp pin authorization_code device_code salt tokenStorage token_params ' +
  'token_admin passwordMessage bearer nkey'
).split(' ')

const OPEN_NAMES = (
  'token_type tokens_total token_count token_ttl tokenType password_changed_at passwordMinLength token_endpoint code ' +
  'error_code status key key_id name url path user user_id session_id request_id message content_hash sha256 ' +
  'idempotency_key author robot robot_kind secret_name private_key_file cookie_count monkey hashed duration_ms state'
).split(' ')

test('names of secrets are recognized in any spelling', () => {
  assert.deepEqual(
    SECRET_NAMES.filter((name) => !isSecretName(name)),
    [],
  )
})

test('names of data about secrets are not', () => {
  assert.deepEqual(
    OPEN_NAMES.filter((name) => isSecretName(name)),
    [],
  )
})
