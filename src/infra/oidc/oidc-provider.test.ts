import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../kernel/clock.ts'
import type { SignInBinding } from '../../ports/authentication.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { startTestProvider } from '../../../test/support/mock-oidc.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { MOCK_USER, providerAt } from '../../../test/support/sign-in.ts'
import { scrubText } from '../log/scrub.ts'
import type { OidcProvider } from './oidc-provider.ts'

const randomText = () => randomBytes(32).toString('base64url')
const newBinding = () => ({ state: randomText(), nonce: randomText(), codeVerifier: randomText() })
const script = (...items: object[]) => ({ MOCK_SCENARIOS: JSON.stringify(items) })
const start = (env: Readonly<Record<string, string>> = {}) => startTestProvider(env, systemClock)

/** The parameters that the provider sends the browser back with. */
async function visit(provider: OidcProvider, binding: SignInBinding, change = (url: URL) => url) {
  const begun = await provider.authorizationUrl(binding)
  assert.ok(begun.outcome === 'ready', JSON.stringify(begun))
  const answer = await fetch(change(new URL(begun.url)), { redirect: 'manual' })
  return new URL(answer.headers.get('location') ?? '').searchParams
}

async function identify(provider: OidcProvider, binding = newBinding()) {
  return provider.identify(await visit(provider, binding), binding)
}

/** A server of our own, for answers that no provider gives. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  scopeOf(t).defer(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('the browser is sent away with PKCE S256, a state, a nonce and the scopes', async () => {
  await using mock = await start()
  const binding = newBinding()
  const begun = await providerAt(mock.url).authorizationUrl(binding)
  assert.ok(begun.outcome === 'ready')
  const { searchParams } = new URL(begun.url)
  assert.deepEqual(
    ['response_type', 'scope', 'state', 'nonce', 'code_challenge_method'].map((name) =>
      searchParams.get(name),
    ),
    ['code', 'openid profile', binding.state, binding.nonce, 'S256'],
  )
  assert.match(searchParams.get('code_challenge') ?? '', /^[\w-]{43}$/)
  assert.ok(!begun.url.includes(binding.codeVerifier))
})

test('a sign-out names the address to come back to; a provider that is away has no end of a session', async () => {
  const mock = await start()
  const postLogoutRedirectUri = 'https://shop.example.org/console/'
  const provider = providerAt(mock.url, { postLogoutRedirectUri })
  const url = new URL((await provider.endSessionUrl()) ?? '')
  assert.equal(url.pathname, '/end_session')
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), postLogoutRedirectUri)
  const back = await fetch(url, { redirect: 'manual' })
  assert.deepEqual([back.status, back.headers.get('location')], [302, postLogoutRedirectUri])
  await mock.close(0)
  assert.equal(await providerAt(mock.url).endSessionUrl(), undefined)
})

test('the claims are those of the ID token and of userinfo', async () => {
  await using mock = await start()
  const answer = await identify(providerAt(mock.url))
  assert.ok(answer.outcome === 'identified', JSON.stringify(answer))
  assert.deepEqual(
    [answer.claims['sub'], answer.claims['email'], answer.claims['iss']],
    [MOCK_USER, 'mock.user@example.com', mock.url],
  )
})

test('without the scope openid the claims are those of userinfo', async () => {
  await using mock = await start()
  const answer = await identify(providerAt(mock.url, { scopes: ['profile'] }))
  assert.ok(answer.outcome === 'identified', JSON.stringify(answer))
  assert.deepEqual([answer.claims['sub'], answer.claims['iss']], [MOCK_USER, undefined])
})

test('a provider that only takes forms gets a form', async () => {
  await using mock = await start({ MOCK_REQUIRE_FORM: '1' })
  assert.equal((await identify(providerAt(mock.url))).outcome, 'identified')
})

test('a provider whose issuer is elsewhere is reached at the address of its metadata', async () => {
  await using mock = await start({ MOCK_ISSUER: 'http://203.0.113.10:8088' })
  const issuer = 'http://203.0.113.10:8088'
  const answer = await identify(providerAt(issuer, { discoveryUrl: mock.url }))
  assert.equal(answer.outcome, 'identified', JSON.stringify(answer))
})

/** Scenarios of the mock provider, with what they are for a sign-in. */
const SCENARIOS: readonly (readonly [endpoint: string, scenario: string, outcome: string])[] = [
  ['token', 'reset', 'unreachable'],
  ['token', 'truncated_json', 'unusable'],
  ['token', 'wrong_content_type', 'identified'],
  ['token', 'expires_in_string', 'identified'],
  ['token', 'expired_code', 'refused'],
  ['token', 'missing_access_token', 'unusable'],
  ['token', 'rotated_key', 'identified'],
  ['token', 'rate_limited', 'unusable'],
  ['token', 'html_error', 'unusable'],
  ['userinfo', 'reset', 'unreachable'],
  ['userinfo', 'truncated_json', 'unusable'],
  ['userinfo', 'wrong_content_type', 'identified'],
  ['userinfo', 'rate_limited', 'unusable'],
  ['userinfo', 'html_error', 'unusable'],
  ['jwks', 'reset', 'unreachable'],
  ['jwks', 'truncated_json', 'unusable'],
  ['jwks', 'rate_limited', 'unusable'],
  ['jwks', 'html_error', 'unusable'],
]

for (const [endpoint, scenario, outcome] of SCENARIOS) {
  test(`${scenario} at ${endpoint}: ${outcome}, and the next sign-in succeeds`, async () => {
    await using mock = await start(script({ endpoint, scenario }))
    const provider = providerAt(mock.url)
    assert.equal((await identify(provider)).outcome, outcome)
    assert.equal((await identify(provider)).outcome, 'identified')
  })
}

for (const scenario of ['reset', 'truncated_json', 'rate_limited', 'html_error']) {
  test(`${scenario} at the metadata is a failure that is not kept`, async () => {
    await using mock = await start(script({ endpoint: 'discovery', scenario }))
    const provider = providerAt(mock.url)
    const expected = scenario === 'reset' ? 'unreachable' : 'unusable'
    assert.equal((await provider.authorizationUrl(newBinding())).outcome, expected)
    assert.equal((await identify(provider)).outcome, 'identified')
  })
}

for (const [mode, outcome] of [
  ['idp_error', 'refused'],
  ['http500', 'unusable'],
]) {
  test(`the token mode ${mode}: ${outcome}`, async () => {
    await using mock = await start({ MOCK_TOKEN_MODE: mode as string })
    assert.equal((await identify(providerAt(mock.url))).outcome, outcome)
  })
}

for (const endpoint of ['discovery', 'token', 'userinfo', 'jwks']) {
  test(`a provider that is slow at ${endpoint} is given up after the time limit`, async () => {
    // The mock waits to the end of the delay, also when its client has left.
    await using mock = await start(script({ endpoint, scenario: 'delay', delay_ms: 12_000 }))
    const provider = providerAt(mock.url, { timeoutMs: 3_000 })
    const binding = newBinding()
    const begun = await provider.authorizationUrl(binding)
    if (endpoint === 'discovery') return assert.equal(begun.outcome, 'unreachable')
    assert.equal((await identify(provider)).outcome, 'unreachable')
    return undefined
  })
}

test('an answer that comes byte by byte is given up after the time limit', async (t) => {
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const drip = setInterval(() => response.write(' '), 20)
    response.once('close', () => clearInterval(drip))
  })
  const { outcome } = await providerAt(url, { timeoutMs: 300 }).authorizationUrl(newBinding())
  assert.equal(outcome, 'unreachable')
})

test('an endless answer is cut off, compressed or not', async (t) => {
  const { gzipSync } = await import('node:zlib')
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
  for (const headers of [
    { 'content-type': 'application/json' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]) {
    const url = await serve(t, (_request, response) => {
      response
        .writeHead(200, headers)
        .end('content-encoding' in headers ? bomb : Buffer.alloc(50_000_000, ' '))
    })
    const answer = await providerAt(url).authorizationUrl(newBinding())
    assert.ok(answer.outcome === 'unusable', JSON.stringify(answer))
    assert.match(answer.reason, /more than \d+ bytes/)
  }
})

test('a provider that is away is unreachable', async () => {
  const mock = await start()
  const provider = providerAt(mock.url)
  const binding = newBinding()
  const answer = await visit(provider, binding)
  await mock.close(0)
  assert.equal((await provider.identify(answer, binding)).outcome, 'unreachable')
  assert.equal((await providerAt(mock.url).authorizationUrl(newBinding())).outcome, 'unreachable')
})

test('metadata of another issuer is not used', async () => {
  await using mock = await start({ MOCK_ISSUER: 'http://203.0.113.10:8088' })
  const answer = await providerAt(mock.url).authorizationUrl(newBinding())
  assert.deepEqual(answer, {
    outcome: 'unusable',
    reason: 'the issuer in the metadata is not auth.oidc.issuer',
  })
})

test('metadata that leads to forbidden endpoints is not used', async (t) => {
  const metadata = { issuer: '', authorization_endpoint: '', token_endpoint: 'file:///etc/passwd' }
  const url = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
  })
  Object.assign(metadata, { issuer: url, authorization_endpoint: `${url}/authorize` })
  assert.equal((await providerAt(url).authorizationUrl(newBinding())).outcome, 'unusable')
  Object.assign(metadata, { token_endpoint: undefined })
  assert.equal((await providerAt(url).authorizationUrl(newBinding())).outcome, 'unusable')
})

test('a redirect is not followed', async (t) => {
  const visited: (string | undefined)[] = []
  const url = await serve(t, (request, response) => {
    visited.push(request.url)
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  assert.equal((await providerAt(url).authorizationUrl(newBinding())).outcome, 'unusable')
  assert.deepEqual(visited, ['/.well-known/openid-configuration'])
})

test('without allow_insecure_endpoints nothing is sent over http', async (t) => {
  const visited: (string | undefined)[] = []
  const url = await serve(t, (request, response) => {
    visited.push(request.url)
    response.end()
  })
  const answer = await providerAt(url, { allowInsecureEndpoints: false }).authorizationUrl(newBinding())
  assert.equal(answer.outcome, 'unusable')
  assert.deepEqual(visited, [])
})

test('the code of another sign-in is refused: the verifier does not fit', async () => {
  await using mock = await start()
  const provider = providerAt(mock.url)
  const [mine, other] = [newBinding(), newBinding()]
  const answer = await visit(provider, mine)
  answer.set('code', (await visit(provider, other)).get('code') ?? '')
  assert.equal((await provider.identify(answer, mine)).outcome, 'refused')
})

test('a sign-in whose challenge was removed on the way is refused', async () => {
  await using mock = await start()
  const provider = providerAt(mock.url)
  const binding = newBinding()
  const answer = await visit(provider, binding, (url) => {
    url.searchParams.delete('code_challenge')
    url.searchParams.delete('code_challenge_method')
    return url
  })
  assert.equal((await provider.identify(answer, binding)).outcome, 'refused')
})

test('an ID token with another nonce, or with none, is not used; the reason names the claim', async () => {
  await using mock = await start()
  const provider = providerAt(mock.url)
  for (const nonce of ['another', undefined]) {
    const binding = newBinding()
    const answer = await visit(provider, binding, (url) => {
      if (nonce === undefined) url.searchParams.delete('nonce')
      else url.searchParams.set('nonce', nonce)
      return url
    })
    const outcome = await provider.identify(answer, binding)
    assert.ok(outcome.outcome === 'unusable', JSON.stringify(outcome))
    assert.match(outcome.reason, /"nonce".* \(OAUTH_[A-Z_]+\)$/)
    assert.equal(scrubText(outcome.reason), outcome.reason, 'the log shows the reason as it is')
  }
})

test('a sign-in from which openid was removed has no ID token and is not used', async () => {
  await using mock = await start()
  const provider = providerAt(mock.url)
  const binding = newBinding()
  const answer = await visit(provider, binding, (url) => {
    url.searchParams.set('scope', 'profile')
    return url
  })
  assert.equal((await provider.identify(answer, binding)).outcome, 'unusable')
})

test('a refusal of the provider, a wrong secret and an empty answer are refusals, and their reasons are codes', async () => {
  await using mock = await start({ MOCK_CLIENT_SECRET: 'another' })
  const provider = providerAt(mock.url)
  assert.deepEqual(await identify(provider), {
    outcome: 'refused',
    reason:
      'HTTP 401 with a challenge: the provider does not accept auth.oidc.client_id with auth.oidc.client_secret',
  })
  const binding = newBinding()
  const denied = new URLSearchParams({
    error: 'access_denied',
    error_description: 'no',
    state: binding.state,
  })
  assert.deepEqual(await provider.identify(denied, binding), { outcome: 'refused', reason: 'access_denied' })
  denied.set('error', 'x\ny'.repeat(1_000))
  const { reason } = (await provider.identify(denied, binding)) as { reason: string }
  assert.equal(reason, 'an error without a usable code')
  const empty = new URLSearchParams({ state: binding.state })
  assert.equal((await provider.identify(empty, binding)).outcome, 'refused')
})

test('repeated parameters and another issuer in the answer are not used', async () => {
  await using mock = await start()
  const provider = providerAt(mock.url)
  for (const [name, value] of [
    ['code', 'code-2'],
    ['iss', 'https://evil.example'],
    ['id_token', 'x'],
  ] as const) {
    const binding = newBinding()
    const answer = await visit(provider, binding)
    answer.append(name, value)
    assert.equal((await provider.identify(answer, binding)).outcome, 'unusable', name)
  }
})

test('the metadata is read when a sign-in begins, once for concurrent ones, and kept for ten minutes for its end', async () => {
  await using mock = await start({ MOCK_LOG: '1' })
  const clock = fakeClock()
  const provider = providerAt(mock.url, { clock })
  const reads = () => mock.lines.filter((line) => line.includes('"endpoint":"discovery"')).length
  await Promise.all(Array.from({ length: 5 }, () => provider.authorizationUrl(newBinding())))
  assert.equal(reads(), 1)
  const binding = newBinding()
  const answer = await visit(provider, binding)
  assert.equal(reads(), 2)
  clock.advance(599_999)
  assert.equal((await provider.identify(answer, binding)).outcome, 'identified')
  assert.equal(reads(), 2)
  clock.advance(1)
  await provider.identify(answer, binding)
  assert.equal(reads(), 3)
})

test('no browser is sent to a provider that is away, although its metadata was read before', async () => {
  const mock = await start()
  const provider = providerAt(mock.url)
  assert.equal((await identify(provider)).outcome, 'identified')
  await mock.close(0)
  assert.equal((await provider.authorizationUrl(newBinding())).outcome, 'unreachable')
})
