import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR, MINUTE } from '../../src/kernel/time.ts'
import { fakeClock } from '../../test/support/clock.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  newPkce,
  REDIRECT_URI,
  startTestProvider,
  type Fields,
  type RawAnswer,
} from '../../test/support/mock-oidc.ts'
import { TOKEN_CHECKS } from './token.ts'

interface Row {
  readonly name: string
  readonly asked?: Fields
  readonly fields?: Fields
  readonly headers?: Readonly<Record<string, string>>
  /** The fields of a second request that succeeds; null when the request for the code was wrong. */
  readonly repair?: Fields | null
  readonly expected: readonly [status: number, check: string, error: string, code: number | undefined]
}

const PKCE = newPkce()
const CHALLENGE = { code_challenge: PKCE.code_challenge, code_challenge_method: 'S256' }
const BASIC = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`
const WRONG_BASIC = `Basic ${Buffer.from(`${CLIENT_ID}:guess`).toString('base64')}`

const ROWS: readonly Row[] = [
  {
    name: 'a body of another type',
    headers: { 'content-type': 'text/plain' },
    expected: [415, 'content_type', 'invalid_request', undefined],
  },
  {
    name: 'a compressed body',
    headers: { 'content-encoding': 'gzip' },
    expected: [415, 'content_type', 'invalid_request', undefined],
  },
  {
    name: 'no grant_type',
    fields: { grant_type: undefined },
    expected: [400, 'grant_type', 'invalid_request', 20001],
  },
  {
    name: 'another grant_type',
    fields: { grant_type: 'password' },
    expected: [400, 'grant_type', 'unsupported_grant_type', 20036],
  },
  {
    name: 'a grant_type that is a property of every object',
    fields: { grant_type: 'constructor' },
    expected: [400, 'grant_type', 'unsupported_grant_type', 20036],
  },
  { name: 'no code', fields: { code: undefined }, expected: [400, 'code', 'invalid_request', 20001] },
  { name: 'an empty code', fields: { code: '' }, expected: [400, 'code', 'invalid_request', 20001] },
  { name: 'an unknown code', fields: { code: 'nope' }, expected: [400, 'code', 'invalid_grant', 20003] },
  {
    name: 'no client_id',
    fields: { client_id: undefined },
    expected: [400, 'client_id', 'invalid_request', 20001],
  },
  {
    name: 'a wrong client_id',
    fields: { client_id: 'other' },
    expected: [401, 'client_id', 'invalid_client', 20048],
  },
  {
    name: 'a code that another client requested',
    asked: { client_id: 'other' },
    repair: null,
    expected: [400, 'issued_to', 'invalid_grant', 20024],
  },
  {
    name: 'a code that was requested without client_id',
    asked: { client_id: undefined },
    repair: null,
    expected: [400, 'issued_to', 'invalid_grant', 20024],
  },
  {
    name: 'no client_secret',
    fields: { client_secret: undefined },
    expected: [400, 'client_secret', 'invalid_request', 20001],
  },
  {
    name: 'a wrong client_secret',
    fields: { client_secret: 'guess' },
    expected: [401, 'client_secret', 'invalid_client', 20002],
  },
  {
    name: 'a wrong client_secret in the header',
    fields: { client_id: undefined, client_secret: undefined },
    headers: { authorization: WRONG_BASIC },
    expected: [401, 'client_secret', 'invalid_client', 20002],
  },
  {
    name: 'two authentication methods at once',
    headers: { authorization: BASIC },
    expected: [400, 'client_authentication', 'invalid_request', 20070],
  },
  {
    name: 'two clients at once',
    fields: { client_id: 'other', client_secret: undefined },
    headers: { authorization: BASIC },
    expected: [400, 'client_authentication', 'invalid_request', 20063],
  },
  {
    name: 'an authentication scheme other than Basic',
    headers: { authorization: 'Bearer x' },
    expected: [401, 'client_authentication', 'invalid_client', 20002],
  },
  {
    name: 'Basic credentials without a colon',
    headers: { authorization: 'Basic YWJj' },
    expected: [400, 'client_authentication', 'invalid_request', 20063],
  },
  {
    name: 'a redirect_uri other than the requested one',
    fields: { redirect_uri: `${REDIRECT_URI}/` },
    expected: [400, 'redirect_uri', 'invalid_grant', 20071],
  },
  {
    name: 'no redirect_uri although /authorize had one',
    fields: { redirect_uri: undefined },
    expected: [400, 'redirect_uri', 'invalid_request', 20001],
  },
  {
    name: 'a redirect_uri other than the default that /authorize used',
    asked: { redirect_uri: undefined },
    fields: { redirect_uri: 'http://127.0.0.1:9989/other' },
    expected: [400, 'redirect_uri', 'invalid_grant', 20071],
  },
  {
    name: 'no code_verifier for a challenge',
    asked: CHALLENGE,
    repair: { code_verifier: PKCE.code_verifier },
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
  {
    name: 'a wrong code_verifier',
    asked: CHALLENGE,
    repair: { code_verifier: PKCE.code_verifier },
    fields: { code_verifier: newPkce().code_verifier },
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
  {
    name: 'a code_verifier that is too short, though it matches',
    // BASE64URL(SHA256("abc"))
    asked: { code_challenge: 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0', code_challenge_method: 'S256' },
    fields: { code_verifier: 'abc' },
    repair: null,
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
  {
    name: 'the challenge method plain, though the verifier matches',
    asked: { code_challenge: PKCE.code_verifier, code_challenge_method: 'plain' },
    fields: { code_verifier: PKCE.code_verifier },
    repair: null,
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
  {
    name: 'no challenge method, whose default is plain',
    asked: { code_challenge: PKCE.code_verifier },
    fields: { code_verifier: PKCE.code_verifier },
    repair: null,
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
  {
    name: 'a code_verifier without a challenge',
    fields: { code_verifier: PKCE.code_verifier },
    expected: [400, 'pkce', 'invalid_grant', 20049],
  },
]

/** The description begins with the check, in the characters of RFC 6749, section 5.2. */
function assertRefused(answer: RawAnswer, [status, check, error, code]: Row['expected']): void {
  const body = answer.json()
  assert.deepEqual([answer.status, body['error'], body['code']], [status, error, code], answer.text)
  assert.match(
    String(body['error_description']),
    new RegExp(`^${check}: [\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]+$`),
  )
  assert.equal(answer.headers['cache-control'], 'no-store')
}

describe('a request to /token is refused for', () => {
  for (const { name, asked = {}, fields = {}, headers = {}, repair = {}, expected } of ROWS) {
    test(`${name}, ${repair ? 'and the code stays valid' : 'and the code is of no use'}`, async () => {
      await using provider = await startTestProvider()
      const code = await provider.code(asked)
      assertRefused(await provider.token({ code, ...fields }, headers), expected)
      if (repair) assert.equal((await provider.token({ code, ...repair })).status, 200)
    })
  }
})

test('the checks run in the order of the specification, and the first failure is answered', async () => {
  assert.equal(
    TOKEN_CHECKS.authorization_code.map(({ name }) => name).join(' '),
    'scenario content_type body grant_type code client_authentication client_id issued_to client_secret ' +
      'redirect_uri pkce',
  )
  await using provider = await startTestProvider()
  const code = await provider.code(CHALLENGE)
  const right = {
    code,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    redirect_uri: REDIRECT_URI,
    ...PKCE,
  }
  const wrong = { code: 'x', client_id: 'x', client_secret: 'x', redirect_uri: 'x', code_verifier: 'x' }
  const results: unknown[] = []
  for (const repaired of [0, 1, 2, 3, 4, 5]) {
    const names = Object.keys(wrong).slice(0, repaired)
    const fields = Object.fromEntries(names.map((name) => [name, right[name as keyof typeof right]]))
    const answer = await provider.token({ ...wrong, ...fields })
    results.push(answer.json()['code'] ?? answer.status)
  }
  assert.deepEqual(results, [20003, 20048, 20002, 20071, 20049, 200])
})

test('MOCK_TOKEN_MODE is checked before everything else and leaves the code valid', async () => {
  const modes = [
    ['idp_error', 400, 'invalid_grant', undefined],
    ['http500', 500, 'server_error', 20050],
  ] as const
  for (const [mode, status, error, number] of modes) {
    await using provider = await startTestProvider({ MOCK_TOKEN_MODE: mode })
    const expected = [status, 'scenario', error, number] as const
    assertRefused(await provider.token({ code: await provider.code() }), expected)
    assertRefused(await provider.token({ code: 'x' }, { 'content-type': 'text/plain' }), expected)
  }
})

test('a wrong verifier is refused, and the right one then succeeds', async () => {
  await using provider = await startTestProvider()
  const code = await provider.code(CHALLENGE)
  const wrong = await provider.token({ code, code_verifier: newPkce().code_verifier })
  assertRefused(wrong, [400, 'pkce', 'invalid_grant', 20049])
  const right = await provider.token({ code, code_verifier: PKCE.code_verifier })
  assert.equal(right.status, 200)
})

test('a code is valid once', async () => {
  await using provider = await startTestProvider()
  const code = await provider.code()
  assert.equal((await provider.token({ code })).status, 200)
  assertRefused(await provider.token({ code }), [400, 'code', 'invalid_grant', 20065])
})

test('of 50 simultaneous exchanges of one code exactly one succeeds', async () => {
  await using provider = await startTestProvider()
  for (const scope of ['profile', 'openid']) {
    const code = await provider.code({ ...CHALLENGE, scope })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => provider.token({ code, code_verifier: PKCE.code_verifier })),
    )
    const counts = Map.groupBy(answers, (answer) => answer.json()['code'] ?? answer.status)
    assert.deepEqual([counts.get(200)?.length, counts.get(20065)?.length], [1, 49], scope)
  }
})

test('a code expires after ten minutes, an access token after two hours', async () => {
  const clock = fakeClock()
  await using provider = await startTestProvider({}, clock)
  const [early, late] = [await provider.code(), await provider.code()]
  clock.advance(10 * MINUTE - 1)
  const { access_token } = (await provider.token({ code: early })).json()
  clock.advance(1)
  assertRefused(await provider.token({ code: late }), [400, 'code', 'invalid_grant', 20004])
  clock.advance(2 * HOUR - 2)
  assert.equal((await provider.userinfo(access_token)).status, 200)
  clock.advance(1)
  assert.equal((await provider.userinfo(access_token)).status, 401)
})

test('the answer has the tokens and the requested scope', async () => {
  await using provider = await startTestProvider()
  for (const scope of ['b a', undefined]) {
    const answer = await provider.token({ code: await provider.code({ scope }) })
    const { access_token, refresh_token, ...others } = answer.json()
    assert.match(String(access_token), /^u-[\w-]{36}$/)
    assert.match(String(refresh_token), /^ur-[\w-]{36}$/)
    assert.deepEqual(others, { token_type: 'Bearer', expires_in: 7200, scope: scope ?? '' })
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  }
})

test('redirect_uri may be omitted, or be the default, when /authorize used the default', async () => {
  await using provider = await startTestProvider()
  for (const redirect_uri of [undefined, REDIRECT_URI]) {
    const code = await provider.code({ redirect_uri: undefined })
    assert.equal((await provider.token({ code, redirect_uri })).status, 200)
  }
})

test('the client may use Basic authentication, each part form-encoded', async () => {
  const id = 'a b:ü'
  const secret = 'p%+:q'
  await using provider = await startTestProvider({ MOCK_CLIENT_ID: id, MOCK_CLIENT_SECRET: secret })
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
  const authorization = `basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
  const code = await provider.code({ client_id: id })
  const answer = await provider.token(
    { code, client_id: undefined, client_secret: undefined },
    { authorization },
  )
  assert.equal(answer.status, 200, answer.text)
})

test('only a client that failed in the Authorization header gets a challenge', async () => {
  await using provider = await startTestProvider()
  const code = await provider.code()
  const inHeader = await provider.token({ code, client_secret: undefined }, { authorization: WRONG_BASIC })
  assert.match(inHeader.headers['www-authenticate'] ?? '', /^Basic /)
  const inBody = await provider.token({ code, client_secret: 'guess' })
  assert.equal(inBody.headers['www-authenticate'], undefined)
})

test('a refresh token is valid once and its answer has the next one', async () => {
  await using provider = await startTestProvider()
  const first = (await provider.token({ code: await provider.code({ scope: 'a b' }) })).json()
  const refresh = {
    grant_type: 'refresh_token',
    redirect_uri: undefined,
    refresh_token: String(first['refresh_token']),
  }
  assertRefused(await provider.token({ ...refresh, client_secret: 'x' }), [
    401,
    'client_secret',
    'invalid_client',
    20002,
  ])
  assertRefused(await provider.token({ ...refresh, scope: 'a c' }), [400, 'scope', 'invalid_scope', 20068])
  const second = (await provider.token({ ...refresh, scope: 'b' })).json()
  assert.equal(second['scope'], 'b')
  assert.equal((await provider.userinfo(second['access_token'])).status, 200)
  assertRefused(await provider.token(refresh), [400, 'refresh_token', 'invalid_grant', 20073])
  const third = (await provider.token({ ...refresh, refresh_token: String(second['refresh_token']) })).json()
  assert.equal(third['scope'], 'a b')
})

test('a refresh token that is missing, unknown or a code is refused', async () => {
  await using provider = await startTestProvider()
  const refresh = { grant_type: 'refresh_token', redirect_uri: undefined }
  assertRefused(await provider.token(refresh), [400, 'refresh_token', 'invalid_request', 20001])
  const code = await provider.code()
  for (const refresh_token of ['ur-nope', code]) {
    const answer = await provider.token({ ...refresh, refresh_token })
    assertRefused(answer, [400, 'refresh_token', 'invalid_grant', 20064])
  }
})

test('of 50 simultaneous refreshes with one token exactly one succeeds', async () => {
  await using provider = await startTestProvider()
  const { refresh_token } = (await provider.token({ code: await provider.code({ scope: 'openid' }) })).json()
  const fields = {
    grant_type: 'refresh_token',
    refresh_token: String(refresh_token),
    redirect_uri: undefined,
  }
  const answers = await Promise.all(Array.from({ length: 50 }, () => provider.token(fields)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('only the newest 10,000 codes are kept', async () => {
  await using provider = await startTestProvider()
  const oldest = await provider.code()
  const second = await provider.code()
  for (let left = 9_999; left > 0; left -= 33) {
    await Promise.all(Array.from({ length: Math.min(33, left) }, () => provider.authorize()))
  }
  assert.equal(provider.remembered(), 10_000)
  assertRefused(await provider.token({ code: oldest }), [400, 'code', 'invalid_grant', 20003])
  assert.equal((await provider.token({ code: second })).status, 200)
})
