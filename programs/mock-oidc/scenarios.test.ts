import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestProvider } from '../../test/support/mock-oidc.ts'
import { eventually } from '../../test/support/eventually.ts'

const script = (...items: object[]) => ({ MOCK_SCENARIOS: JSON.stringify(items) })
const atToken = (scenario: string, option: object = {}) => ({ endpoint: 'token', scenario, ...option })
const DISCOVERY = '/.well-known/openid-configuration'

test('scenarios run in order, each for one request to its endpoint', async () => {
  await using provider = await startTestProvider(
    script(
      atToken('html_error', { status: 503 }),
      { endpoint: 'userinfo', scenario: 'rate_limited' },
      atToken('rate_limited', { retry_after_seconds: 7 }),
    ),
  )
  const code = await provider.code()
  const html = await provider.token({ code })
  assert.equal(html.status, 503)
  assert.match(html.headers['content-type'] ?? '', /^text\/html/)
  assert.match(html.text, /^<!doctype html>/)
  const limited = await provider.token({ code })
  assert.deepEqual([limited.status, limited.headers['retry-after']], [429, '7'])
  assert.equal(limited.json()['error'], 'temporarily_unavailable')
  const good = await provider.token({ code })
  assert.equal(good.status, 200)
  const { access_token } = good.json()
  assert.equal((await provider.userinfo(access_token)).status, 429)
  assert.equal((await provider.userinfo(access_token)).status, 200)
})

test('a request that reaches no endpoint uses up no scenario', async () => {
  await using provider = await startTestProvider(script(atToken('html_error')))
  assert.equal((await provider.request('GET', '/token')).status, 405)
  assert.equal((await provider.request('POST', '/nowhere')).status, 404)
  assert.equal((await provider.token({ code: 'x' })).status, 502)
})

test('delay: the regular answer comes late', async () => {
  await using provider = await startTestProvider(script(atToken('delay', { delay_ms: 80 })))
  const code = await provider.code()
  const startedAt = performance.now()
  assert.equal((await provider.token({ code })).status, 200)
  // Timers count whole milliseconds.
  assert.ok(performance.now() - startedAt >= 79)
})

test('reset: the connection is reset and the code stays valid', async () => {
  await using provider = await startTestProvider(
    script(atToken('reset'), { endpoint: 'authorize', scenario: 'reset' }),
  )
  await assert.rejects(provider.authorize(), { code: 'ECONNRESET' })
  const code = await provider.code()
  await assert.rejects(provider.token({ code }), { code: 'ECONNRESET' })
  assert.equal((await provider.token({ code })).status, 200)
})

test('truncated_json: half of the body with a matching Content-Length', async () => {
  await using provider = await startTestProvider(
    script(atToken('truncated_json'), { endpoint: 'discovery', scenario: 'truncated_json' }),
  )
  for (const half of [
    await provider.token({ code: await provider.code() }),
    await provider.request('GET', DISCOVERY),
  ]) {
    assert.equal(half.status, 200)
    assert.match(half.headers['content-type'] ?? '', /^application\/json/)
    assert.throws(() => half.json(), SyntaxError)
    assert.equal(half.headers['content-length'], String(half.text.length))
  }
})

test('wrong_content_type: the regular body with a wrong Content-Type', async () => {
  await using provider = await startTestProvider(script(atToken('wrong_content_type')))
  const answer = await provider.token({ code: await provider.code() })
  assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
  assert.match(String(answer.json()['access_token']), /^u-/)
})

test('expires_in_string and missing_access_token: the code is used and the answer is damaged', async () => {
  await using provider = await startTestProvider(
    script(atToken('expires_in_string'), atToken('missing_access_token')),
  )
  const first = (await provider.token({ code: await provider.code() })).json()
  assert.equal(first['expires_in'], '7200')
  assert.equal((await provider.userinfo(first['access_token'])).status, 200)
  const code = await provider.code()
  const second = await provider.token({ code })
  assert.equal(second.status, 200)
  assert.ok(!('access_token' in second.json()))
  assert.equal((await provider.token({ code })).json()['code'], 20065)
})

test('a scenario that damages success answers leaves errors unchanged', async () => {
  await using provider = await startTestProvider(script(atToken('missing_access_token')))
  assert.equal((await provider.token({ code: 'x' })).json()['code'], 20003)
})

test('expired_code: the code has expired, also for the next request', async () => {
  await using provider = await startTestProvider(script(atToken('expired_code')))
  const code = await provider.code()
  for (const _ of [1, 2]) assert.equal((await provider.token({ code })).json()['code'], 20004)
  assert.equal((await provider.token({ code: await provider.code() })).status, 200)
})

test('rotated_key: the JWK set has the new key and the previous one', async () => {
  await using provider = await startTestProvider(script(atToken('rotated_key'), atToken('rotated_key')))
  const kids = async () => {
    const { keys } = (await provider.request('GET', '/jwks')).json() as { keys: { kid: string }[] }
    return keys.map(({ kid }) => kid)
  }
  const idTokenKid = async () => {
    const { id_token } = (await provider.token({ code: await provider.code({ scope: 'openid' }) })).json()
    const header = Buffer.from(String(id_token).split('.')[0] ?? '', 'base64url').toString()
    return (JSON.parse(header) as { kid: string }).kid
  }
  const [first] = await kids()
  const second = await idTokenKid()
  assert.notEqual(second, first)
  assert.deepEqual(await kids(), [second, first])
  const third = await idTokenKid()
  assert.deepEqual(await kids(), [third, second])
  assert.equal(await idTokenKid(), third)
})

test('the log line of a request names its scenario', async () => {
  await using provider = await startTestProvider({
    MOCK_LOG: '1',
    ...script(atToken('reset'), atToken('rate_limited')),
  })
  await assert.rejects(provider.token({ code: 'x' }))
  await provider.token({ code: 'x' })
  const records = provider.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    records.map(({ scenario, status }) => [scenario, status]),
    [
      ['reset', null],
      ['rate_limited', 429],
    ],
  )
})

test('a request in flight is finished before the provider closes', async () => {
  await using provider = await startTestProvider({
    MOCK_LOG: '1',
    ...script({ endpoint: 'jwks', scenario: 'delay', delay_ms: 150 }),
  })
  const late = fetch(`${provider.url}/jwks`)
  await eventually(
    'the request has arrived',
    async () => (await fetch(`${provider.url}/userinfo`)).status === 401,
  )
  const [answer] = await Promise.all([late, provider.close()])
  assert.equal(answer.status, 200)
})

test('a request that takes too long is aborted when the provider closes', async () => {
  await using provider = await startTestProvider(
    script({ endpoint: 'jwks', scenario: 'delay', delay_ms: 600_000 }),
  )
  const late = assert.rejects(fetch(`${provider.url}/jwks`))
  await eventually(
    'the request has arrived',
    async () => (await fetch(`${provider.url}/userinfo`)).status === 401,
  )
  await provider.close(20)
  await late
})
