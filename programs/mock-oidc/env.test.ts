import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMockConfig, VARIABLE_NAMES } from './env.ts'
import { BUILT_IN_IDENTITY } from './identity.ts'
import { ValueError } from '../mock-server/value-error.ts'

const REFUSED: readonly (readonly [variable: string, values: readonly string[]])[] = [
  ['MOCK_PORT', ['abc', '80.5', '1e3', '-1', '65536', ' 80', '0x50']],
  ['MOCK_BIND', ['0.0.0.0', '192.168.1.5', '::', 'example.com', '128.0.0.1', 'fe80::1%lo', '127.1']],
  [
    'MOCK_ISSUER',
    [
      'here',
      '/x',
      'ftp://a',
      'http://a/?b',
      'http://a#b',
      'http://',
      'http://a b',
      'http:///a',
      'http://\na',
      'http://中',
    ],
  ],
  [
    'MOCK_REDIRECT_URI',
    ['/callback', 'http://a/#b', 'javascript:alert(1)', 'http://a/\nb', 'http://a\\b', 'http://\nfoo/cb'],
  ],
  ['MOCK_TOKEN_MODE', ['OK', 'http_500', 'toString']],
  ['MOCK_USER_JSON', ['{', 'name', '[1]', '5', '"x"', 'true', '1']],
  [
    'MOCK_SCENARIOS',
    [
      '[',
      '{}',
      '[1]',
      '[null]',
      '[{"endpoint":"token"}]',
      '[{"endpoint":"token","scenario":"constructor"}]',
      '[{"endpoint":"nowhere","scenario":"delay"}]',
      '[{"endpoint":"userinfo","scenario":"expired_code"}]',
      '[{"endpoint":"token","scenario":"delay","delay_ms":"5"}]',
      '[{"endpoint":"token","scenario":"delay","delay_ms":0}]',
      '[{"endpoint":"token","scenario":"reset","delay_ms":5}]',
      '[{"endpoint":"token","scenario":"html_error","status":200}]',
    ],
  ],
]

for (const [variable, values] of REFUSED) {
  for (const value of values) {
    test(`${variable}=${JSON.stringify(value)} is a ValueError that names the variable`, () => {
      assert.throws(
        () => readMockConfig({ [variable]: value }),
        (error) => error instanceof ValueError && error.message.startsWith(`${variable}: expected `),
      )
    })
  }
}

test('the message of a ValueError contains the value, on one line', () => {
  assert.throws(() => readMockConfig({ MOCK_PORT: 'a\nb' }), {
    message: 'MOCK_PORT: expected an integer from 0 to 65535, got "a\\nb"',
  })
})

test('the defaults are those of the specification', () => {
  const { clientSecret, ...others } = readMockConfig({})
  assert.equal(clientSecret.reveal(), 'mock_secret_docvalue_0001')
  assert.deepEqual(others, {
    issuer: 'http://203.0.113.10:8088',
    bind: '127.0.0.1',
    port: 8088,
    clientId: 'cli_mock_docvalue_0001',
    redirectUri: 'http://127.0.0.1:9989/auth/oauth/callback',
    tokenMode: 'ok',
    requireForm: false,
    user: BUILT_IN_IDENTITY,
    scenarios: [],
    log: false,
  })
})

test('an empty variable counts as unset', () => {
  const empty = Object.fromEntries(VARIABLE_NAMES.map((name) => [name, '']))
  assert.deepEqual(JSON.stringify(readMockConfig(empty)), JSON.stringify(readMockConfig({})))
})

test('only 1 turns a switch on', () => {
  for (const value of ['0', 'true', 'yes', '2', ' 1']) {
    const { requireForm, log } = readMockConfig({ MOCK_REQUIRE_FORM: value, MOCK_LOG: value })
    assert.deepEqual([requireForm, log], [false, false], value)
  }
  const { requireForm, log } = readMockConfig({ MOCK_REQUIRE_FORM: '1', MOCK_LOG: '1' })
  assert.deepEqual([requireForm, log], [true, true])
})

test('every loopback address is accepted', () => {
  for (const bind of ['127.0.0.1', '127.255.0.9', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1']) {
    assert.equal(readMockConfig({ MOCK_BIND: bind }).bind, bind)
  }
})

test('an empty MOCK_USER_JSON falls back to the built-in identity', () => {
  for (const value of ['{}', '[]', 'null', '""', '0', 'false', ' {} ']) {
    assert.equal(readMockConfig({ MOCK_USER_JSON: value }).user, BUILT_IN_IDENTITY, value)
  }
  assert.deepEqual(readMockConfig({ MOCK_USER_JSON: '{"sub":"7"}' }).user, { sub: '7' })
})

test('the number of a scenario has a default', () => {
  const script =
    '[{"endpoint":"token","scenario":"delay"},{"endpoint":"jwks","scenario":"delay","delay_ms":7}]'
  assert.deepEqual(readMockConfig({ MOCK_SCENARIOS: script }).scenarios, [
    { endpoint: 'token', scenario: 'delay', option: 2_000 },
    { endpoint: 'jwks', scenario: 'delay', option: 7 },
  ])
})
