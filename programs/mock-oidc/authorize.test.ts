import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENT_ID, queryOf, REDIRECT_URI, startTestProvider } from '../../test/support/mock-oidc.ts'

test('code and state are appended to the redirect_uri', async () => {
  await using provider = await startTestProvider()
  const state = 'a&b=ü %2F+"\n'
  const answer = await provider.authorize({ redirect_uri: 'https://client.example/cb?x=1', state })
  assert.equal(answer.status, 302)
  assert.match(
    answer.headers.location ?? '',
    /^https:\/\/client\.example\/cb\?x=1&code=code-[\w-]{36}&state=[!-~]+$/,
  )
  assert.equal(queryOf(answer).get('state'), state)
  assert.equal(answer.headers['cache-control'], 'no-store')
})

test('without redirect_uri the redirect goes to MOCK_REDIRECT_URI, without state it has none', async () => {
  await using provider = await startTestProvider({ MOCK_REDIRECT_URI: 'http://127.0.0.1:7/cb' })
  for (const path of ['/authorize', '/authorize?', '/authorize?redirect_uri=&state=']) {
    const { status, headers } = await provider.request('GET', path)
    assert.equal(status, 302)
    assert.match(headers.location ?? '', /^http:\/\/127\.0\.0\.1:7\/cb\?code=code-[\w-]{36}$/)
  }
})

const NEVER_REDIRECTED = [
  ['redirect_uri', 'redirect_uri=/callback'],
  ['redirect_uri', 'redirect_uri=javascript:alert(1)'],
  ['redirect_uri', 'redirect_uri=http://a/%23fragment'],
  ['redirect_uri', 'redirect_uri=http://a/%0d%0aSet-Cookie:x=1'],
  ['redirect_uri', 'redirect_uri=http://a/%C3%BC'],
  ['redirect_uri', 'redirect_uri=http://'],
  ['redirect_uri', 'redirect_uri=http://a&redirect_uri=http://a'],
  ['client_id', 'client_id=a&client_id=b'],
  ['query', 'redirect_uri=http://a&state=%ff'],
  ['query', 'redirect_uri=http://a&state=%zz'],
] as const

for (const [check, query] of NEVER_REDIRECTED) {
  test(`${query} fails the check ${check} and is not redirected`, async () => {
    await using provider = await startTestProvider()
    const answer = await provider.request('GET', `/authorize?${query}`)
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.location, undefined)
    assert.equal(answer.json()['error'], 'invalid_request')
    assert.match(String(answer.json()['error_description']), new RegExp(`^${check}: `))
  })
}

// Characters that the URL parser drops or rewrites, and that a header cannot carry
const BAD_HOST_STARTS = ['%00', '%09', '%0A', '%0D', '%20', '%7F', '%C2%AD', '%E2%80%8B', '%E4%B8%AD', '%5C']

for (const start of BAD_HOST_STARTS) {
  test(`a host that begins with ${start} is 400, also when the request has another error`, async () => {
    await using provider = await startTestProvider()
    for (const others of ['', '&response_type=token', '&scope=%22', '&nonce=1&nonce=2']) {
      const query = `redirect_uri=http%3A%2F%2F${start}foo%2Fcb${others}`
      const answer = await provider.request('GET', `/authorize?${query}`)
      assert.equal(answer.status, 400)
      assert.equal(answer.headers.location, undefined)
    }
  })
}

const REDIRECTED_ERRORS = [
  ['invalid_request', 'nonce=1&nonce=2&state=s', 's'],
  ['invalid_request', 'state=1&state=2', null],
  ['unsupported_response_type', 'response_type=token&state=s', 's'],
  ['invalid_request', 'response_mode=form_post&state=s', 's'],
  ['invalid_scope', 'scope=%22a%22&state=s', 's'],
  ['invalid_scope', 'scope=a%20%20b&state=s', 's'],
] as const

for (const [error, query, state] of REDIRECTED_ERRORS) {
  test(`${query} redirects with the error ${error}`, async () => {
    await using provider = await startTestProvider()
    const answer = await provider.request('GET', `/authorize?client_id=${CLIENT_ID}&${query}`)
    assert.equal(answer.status, 302)
    assert.ok(answer.headers.location?.startsWith(`${REDIRECT_URI}?error=`))
    const sent = queryOf(answer)
    assert.deepEqual([sent.get('error'), sent.get('state'), sent.get('code')], [error, state, null])
  })
}
