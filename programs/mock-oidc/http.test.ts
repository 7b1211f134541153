import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  form,
  REDIRECT_URI,
  startTestProvider,
} from '../../test/support/mock-oidc.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json' }
const FIELDS = {
  grant_type: 'authorization_code',
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
  redirect_uri: REDIRECT_URI,
}

test('discovery lists the endpoints with the issuer as prefix', async () => {
  await using provider = await startTestProvider({ MOCK_ISSUER: 'http://203.0.113.10:8088/' })
  const document = (await provider.request('GET', '/.well-known/openid-configuration')).json()
  assert.equal(document['issuer'], 'http://203.0.113.10:8088/')
  for (const [key, path] of [
    ['authorization_endpoint', '/authorize'],
    ['token_endpoint', '/token'],
    ['userinfo_endpoint', '/userinfo'],
    ['jwks_uri', '/jwks'],
    ['end_session_endpoint', '/end_session'],
  ] as const) {
    assert.equal(document[key], `http://203.0.113.10:8088${path}`)
  }
  assert.deepEqual(document['code_challenge_methods_supported'], ['S256'])
  assert.deepEqual(document['grant_types_supported'], ['authorization_code', 'refresh_token'])
})

test('with a path in the issuer the endpoints are served below that path', async () => {
  await using provider = await startTestProvider({ MOCK_ISSUER: 'http://127.0.0.1:0/tenant' })
  const { status, json } = await provider.request('GET', '/tenant/.well-known/openid-configuration')
  assert.equal(status, 200)
  assert.equal(json()['token_endpoint'], `${provider.url}/tenant/token`)
  assert.equal((await provider.request('GET', '/tenant/authorize')).status, 302)
  assert.equal((await provider.request('GET', '/other/authorize')).status, 404)
})

test('/userinfo answers the identity for a valid token in the header only', async () => {
  const user = { sub: '7', 名: ['x'] }
  await using provider = await startTestProvider({ MOCK_USER_JSON: JSON.stringify(user) })
  const { access_token, refresh_token } = (await provider.token({ code: await provider.code() })).json()
  const answer = await provider.userinfo(access_token)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), user)
  const lowerCase = { authorization: `bearer ${String(access_token)}` }
  assert.equal((await provider.request('GET', '/userinfo', { headers: lowerCase })).status, 200)

  const misses = [
    {},
    ...[
      '',
      'x',
      `Basic ${String(access_token)}`,
      `Bearer  ${String(access_token)}`,
      'Bearer u-x',
      'Bearer é',
    ].map((authorization) => ({ authorization })),
    { authorization: `Bearer ${String(refresh_token)}` },
  ]
  for (const headers of misses) {
    const miss = await provider.request('GET', `/userinfo?access_token=${String(access_token)}`, { headers })
    assert.equal(miss.status, 401)
    assert.equal(miss.headers['www-authenticate'], 'Bearer error="invalid_token"')
    assert.equal(miss.json()['code'], 20005)
    assert.equal(typeof miss.json()['msg'], 'string')
  }
})

test('/authorize and /userinfo take their parameters as a form by POST', async () => {
  await using provider = await startTestProvider()
  const post = (path: string, fields: Record<string, string>, headers = FORM) =>
    provider.request('POST', path, { headers, body: form(fields) })
  const wanted = { client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, state: 'a b' }
  const { status, headers } = await post('/authorize', wanted)
  assert.equal(status, 302)
  const { searchParams } = new URL(headers.location ?? '')
  assert.equal(searchParams.get('state'), 'a b')
  assert.equal((await post('/authorize', wanted, JSON_TYPE)).status, 415)
  const answer = await post('/token', { ...FIELDS, code: searchParams.get('code') ?? '' })
  const accessToken = String(answer.json()['access_token'])
  const authorization = { authorization: `Bearer ${accessToken}` }
  assert.equal((await provider.request('POST', '/userinfo', { headers: authorization })).status, 200)
  assert.equal((await post('/userinfo', { access_token: accessToken })).status, 200)
  assert.equal((await post('/userinfo', { access_token: 'u-x' })).status, 401)
  assert.equal((await post('/userinfo', { access_token: accessToken }, JSON_TYPE)).status, 401)
})

test('PUT is 405 on every path, an unknown path is 404 with any other method', async () => {
  await using provider = await startTestProvider()
  for (const path of ['/token', '/authorize', '/userinfo', '/nowhere', '/']) {
    assert.equal((await provider.request('PUT', path, { body: 'x' })).status, 405, path)
  }
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'QUERY']) {
    for (const path of ['/', '/nowhere', '/token/', '/Token', '/%74oken', '//token', '*']) {
      if (path === '*' && method !== 'OPTIONS') continue
      assert.equal((await provider.request(method, path)).status, 404, `${method} ${path}`)
    }
  }
})

test('a request target in absolute form reaches the same endpoint', async () => {
  await using provider = await startTestProvider()
  const { status, headers } = await provider.request('GET', `${provider.url}/authorize?state=s`)
  assert.equal(status, 302)
  assert.match(headers.location ?? '', /&state=s$/)
  assert.equal((await provider.request('GET', `${provider.url}/nowhere`)).status, 404)
  assert.equal((await provider.request('GET', provider.url)).status, 404)
})

test('Allow lists the methods of an endpoint', async () => {
  await using provider = await startTestProvider()
  const methods = [
    ['/token', 'POST, OPTIONS'],
    ['/authorize', 'GET, HEAD, POST, OPTIONS'],
    ['/userinfo', 'GET, HEAD, POST, OPTIONS'],
    ['/jwks', 'GET, HEAD, OPTIONS'],
    ['/end_session', 'GET, HEAD, POST, OPTIONS'],
    ['/.well-known/openid-configuration', 'GET, HEAD, OPTIONS'],
  ] as const
  for (const [path, allow] of methods) {
    const options = await provider.request('OPTIONS', path)
    assert.deepEqual([options.status, options.headers.allow, options.text], [204, allow, ''])
    const refused = await provider.request('DELETE', path)
    assert.deepEqual([refused.status, refused.headers.allow], [405, allow])
    assert.equal(refused.json()['error'], 'method_not_allowed')
  }
})

test('HEAD has the headers of GET and no body', async () => {
  await using provider = await startTestProvider()
  for (const path of ['/.well-known/openid-configuration', '/jwks', '/userinfo', '/authorize']) {
    const get = await provider.request('GET', path)
    const head = await provider.request('HEAD', path)
    assert.equal(head.text, '')
    assert.deepEqual(
      [head.status, head.headers['content-type'], head.headers['content-length']],
      [get.status, get.headers['content-type'], get.headers['content-length']],
    )
  }
})

test('the media type is case-insensitive and its parameters are ignored', async () => {
  await using provider = await startTestProvider()
  for (const type of ['Application/JSON; charset=UTF-8', 'application/json;x=y', ' application/json ']) {
    const body = JSON.stringify({ ...FIELDS, code: await provider.code() })
    const answer = await provider.request('POST', '/token', { headers: { 'content-type': type }, body })
    assert.equal(answer.status, 200, type)
  }
  const type = 'application/x-www-form-urlencoded;charset=utf-8'
  assert.equal((await provider.token({ code: await provider.code() }, { 'content-type': type })).status, 200)
})

test('with MOCK_REQUIRE_FORM=1 a form is accepted and JSON is 415', async () => {
  await using provider = await startTestProvider({ MOCK_REQUIRE_FORM: '1' })
  const code = await provider.code()
  const refused = await provider.request('POST', '/token', {
    headers: JSON_TYPE,
    body: JSON.stringify({ ...FIELDS, code }),
  })
  assert.equal(refused.status, 415)
  assert.match(String(refused.json()['error_description']), /^content_type: /)
  assert.equal((await provider.token({ code })).status, 200)
})

test('a request without a Content-Type is 415', async () => {
  await using provider = await startTestProvider()
  assert.equal((await provider.request('POST', '/token')).status, 415)
  assert.equal((await provider.request('POST', '/token', { body: form(FIELDS) })).status, 415)
})

const BAD_BODIES: readonly (readonly [string, Readonly<Record<string, string>>, string | Uint8Array])[] = [
  ['a JSON array', JSON_TYPE, '[]'],
  ['a JSON array of pairs', JSON_TYPE, '[["code","x"]]'],
  ['a JSON null', JSON_TYPE, 'null'],
  ['a JSON text', JSON_TYPE, '"code"'],
  ['broken JSON', JSON_TYPE, '{"code":'],
  ['an empty JSON body', JSON_TYPE, ''],
  ['JSON in UTF-16', JSON_TYPE, Buffer.from('{"code":"x"}', 'utf16le')],
  ['JSON nested 30,000 deep', JSON_TYPE, '['.repeat(30_000)],
  ['a JSON parameter that is an array', JSON_TYPE, '{"code":["x"]}'],
  ['a JSON parameter that is a number', JSON_TYPE, '{"client_id":5}'],
  ['a JSON parameter that is null', JSON_TYPE, '{"client_secret":null}'],
  ['a form in Latin-1', FORM, Buffer.from('code=\xfc', 'latin1')],
  ['a form with raw UTF-8', FORM, 'code=ü'],
  ['a form with a broken escape', FORM, 'code=%zz'],
  ['a form with an escape that is no UTF-8', FORM, 'code=%ff'],
  ['a form with a key twice', FORM, 'code=x&code=x'],
  ['a form with a key twice, once percent-encoded', FORM, 'code=x&c%6fde='],
]

for (const [what, headers, body] of BAD_BODIES) {
  test(`${what} fails the check body`, async () => {
    await using provider = await startTestProvider()
    const answer = await provider.request('POST', '/token', { headers, body })
    assert.deepEqual(
      [answer.status, answer.json()['error'], answer.json()['code']],
      [400, 'invalid_request', 20063],
    )
    assert.match(String(answer.json()['error_description']), /^body: /)
  })
}

test('an unknown parameter may be repeated', async () => {
  await using provider = await startTestProvider()
  const body = `resource=a&resource=b&__proto__=x&${form({ ...FIELDS, code: await provider.code() })}`
  assert.equal((await provider.request('POST', '/token', { headers: FORM, body })).status, 200)
})

test('a body of 64 KiB is accepted, one byte more is 413, and the connection stays open', async () => {
  await using provider = await startTestProvider()
  const start = `${form({ ...FIELDS, code: await provider.code() })}&padding=`
  const body = start.padEnd(65_536, 'x')
  const tooLarge = await provider.request('POST', '/token', { headers: FORM, body: `${body}x` })
  assert.equal(tooLarge.status, 413)
  assert.match(String(tooLarge.json()['error_description']), /^body: /)
  const chunked = { ...FORM, 'transfer-encoding': 'chunked' }
  assert.equal((await provider.request('POST', '/token', { headers: chunked, body: `${body}x` })).status, 413)
  assert.equal(
    (await provider.request('POST', '/token', { headers: FORM, body: 'x'.repeat(5_000_000) })).status,
    413,
  )
  assert.equal((await provider.request('POST', '/token', { headers: FORM, body })).status, 200)
})

test('with MOCK_LOG=1 each request writes one line, without secrets, codes or tokens', async () => {
  await using provider = await startTestProvider({ MOCK_LOG: '1' })
  const code = await provider.code({ state: 'the-state' })
  await provider.token({ code, client_secret: 'wrong-secret' })
  const { access_token, refresh_token } = (await provider.token({ code })).json()
  await provider.userinfo(access_token)
  await provider.request('GET', `/userinfo/${String(access_token)}?code=${code}`)

  const records = provider.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    records.map(({ ts: _, duration_ms: __, ...others }) => others),
    [
      { method: 'GET', endpoint: 'authorize', status: 302 },
      {
        method: 'POST',
        endpoint: 'token',
        status: 401,
        check: 'client_secret',
        error: 'invalid_client',
        code: 20002,
      },
      { method: 'POST', endpoint: 'token', status: 200 },
      { method: 'GET', endpoint: 'userinfo', status: 200 },
      { method: 'GET', endpoint: 'none', status: 404, check: 'path', error: 'not_found' },
    ],
  )
  assert.ok(provider.lines.every((line) => line.endsWith('}\n')))
  const all = provider.lines.join('')
  for (const secret of [code, CLIENT_SECRET, 'wrong-secret', 'the-state', access_token, refresh_token]) {
    assert.ok(!all.includes(String(secret)))
  }
})

test('without MOCK_LOG nothing is logged', async () => {
  await using provider = await startTestProvider()
  await provider.token({ code: 'x' })
  assert.deepEqual(provider.lines, [])
})
