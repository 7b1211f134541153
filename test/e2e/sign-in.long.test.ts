import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { createCanaries } from '../security/canaries.ts'
import { eventually } from '../support/eventually.ts'
import { startTestProvider } from '../support/mock-oidc.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { locationOf, redeemTicket, TestBrowser, ticketOf } from '../support/sign-in.ts'

const SECRET = 'mock_secret_docvalue_0001'
const settingsFor = (issuer: string) => ({
  AUTH_OIDC_ISSUER: issuer,
  AUTH_OIDC_CLIENT_ID: 'cli_mock_docvalue_0001',
  AUTH_OIDC_CLIENT_SECRET: SECRET,
  AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: 'true',
  AUTH_OIDC_CREATE_USERS: 'true',
  AUTH_OIDC_DEFAULT_ROLES: 'auditor',
})

async function openWorld(t: TestContext, env: Readonly<Record<string, string>> = {}, mock = {}) {
  const scope = scopeOf(t)
  const provider = scope.use(await startTestProvider(mock, systemClock))
  const { path } = scope.use(temporaryDirectory())
  const serve = async (modules: string) =>
    scope.use(
      await servePlatform({
        dataDir: path,
        modules,
        env: {
          ...settingsFor(provider.url),
          AUTH_OIDC_REDIRECT_URI: 'http://127.0.0.1:1/auth/oauth/callback',
          LOG_LEVEL: 'debug',
          ...env,
        },
      }),
    )
  return { provider, path, serve, platform: await serve('all') }
}

test('a sign-in works at the api and at the gateway, begun at one and finished at the other', async (t) => {
  const { platform } = await openWorld(t)
  const [api, gateway] = [platform.url, platform.gatewayUrl]
  for (const [first, second, third] of [
    [api, api, api],
    [gateway, gateway, gateway],
    [api, gateway, api],
  ] as const) {
    const beginning = new TestBrowser(first)
    const callback = await beginning.visitProvider('/docs')
    const end = new TestBrowser(second)
    end.cookie = beginning.cookie
    const location = locationOf(await end.open(callback))
    assert.match(location, /^\/docs#signed-in=/)
    const response = await redeemTicket(third, ticketOf(location))
    assert.equal(response.status, 200)
    const { access_token: token } = (await response.json()) as { access_token: string }
    const me = await fetch(`${gateway}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual(((await me.json()) as { roles: string[] }).roles, ['auditor'])
  }
  const page = await new TestBrowser(gateway).open('/auth/oauth/callback?code=c&state=s')
  assert.equal(page.status, 400)
  assert.match(page.headers.get('content-security-policy') ?? '', /style-src 'sha256-/)
})

test('two processes that redeem one ticket at once give one token', async (t) => {
  const { platform, serve } = await openWorld(t)
  const other = await serve('api')
  const browser = new TestBrowser(platform.url)
  for (let round = 0; round < 5; round++) {
    const ticket = ticketOf(locationOf(await browser.signIn()))
    const responses = await Promise.all(
      [platform, other, platform, other].map(({ url }) => redeemTicket(url, ticket)),
    )
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 401, 401, 401],
    )
  }
})

test('with a provider that is advertised elsewhere, everything is reached at the address of the metadata', async (t) => {
  const issuer = 'http://203.0.113.10:8088'
  const scope = scopeOf(t)
  const provider = scope.use(await startTestProvider({ MOCK_ISSUER: issuer }, systemClock))
  const { path } = scope.use(temporaryDirectory())
  const platform = scope.use(
    await servePlatform({
      dataDir: path,
      env: {
        ...settingsFor(issuer),
        AUTH_OIDC_DISCOVERY_URL: `${provider.url}/.well-known/openid-configuration`,
        AUTH_OIDC_REDIRECT_URI: 'http://127.0.0.1:1/auth/oauth/callback',
      },
    }),
  )
  const browser = new TestBrowser(platform.url)
  const address = await browser.begin()
  assert.equal(new URL(address).origin, provider.url)
  assert.match(locationOf(await browser.signIn()), /#signed-in=/)
})

test('with the default address of the callback the api listens there too, if it can', async (t) => {
  const { platform } = await openWorld(t, { AUTH_OIDC_REDIRECT_URI: '' })
  const isListening = (message: string) => message === 'listening for sign-in'
  const line = await eventually('the line in the log of the api', () =>
    platform
      .logs()
      .find(({ message }) => isListening(message) || message.startsWith('cannot listen for sign-in')),
  )
  assert.equal(line['address'], '127.0.0.1:9989')
  // Another program may have the port on the machine of the test.
  if (!isListening(line.message)) return
  const answer = await fetch('http://127.0.0.1:9989/auth/oauth/callback')
  assert.equal(answer.status, 400)
  assert.match(await answer.text(), /does not belong to this browser/)
})

test('a configuration that cannot work is refused at the start, with the setting and what it needs', async () => {
  using directory = temporaryDirectory()
  const whole = settingsFor('http://127.0.0.1:8088')
  const cases: readonly (readonly [env: Record<string, string>, line: RegExp])[] = [
    [
      { ...whole, AUTH_OIDC_CLIENT_SECRET: '' },
      /auth\.oidc\.issuer: expected auth\.oidc\.client_secret beside it/,
    ],
    [
      { ...whole, AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: 'false' },
      /auth\.oidc\.issuer: expected an https:\/\/ address, unless auth\.oidc\.allow_insecure_endpoints is true/,
    ],
    [{ ...whole, AUTH_OIDC_DEFAULT_ROLES: 'king' }, /auth\.oidc\.default_roles: expected a list of roles/],
    [
      { ...whole, AUTH_OIDC_ROLES_CLAIM: 'groups', AUTH_OIDC_ROLE_MAP: '{"a":"king"}' },
      /auth\.oidc\.role_map: expected a table/,
    ],
    [
      { ...whole, AUTH_OIDC_ROLE_MAP: '{"a":"admin"}' },
      /auth\.oidc\.role_map: expected auth\.oidc\.roles_claim beside it/,
    ],
  ]
  for (const [env, line] of cases) {
    const { code, stderr } = await runPlatform(['config'], { dataDir: directory.path, env })
    assert.equal(code, 2)
    assert.match(stderr, line)
    assert.ok(!stderr.includes(SECRET))
  }
})

test('no code, token, ticket, state, cookie or client secret is in the log, on a page, or in the database', async (t) => {
  const { platform, path } = await openWorld(
    t,
    {},
    { MOCK_SCENARIOS: '[{"endpoint":"token","scenario":"html_error"}]' },
  )
  const canaries = createCanaries()
  canaries.add('the client secret', SECRET)
  const browser = new TestBrowser(platform.url)
  const pages = [await browser.signIn()]
  const callback = await browser.visitProvider()
  const { searchParams } = new URL(callback)
  canaries.add('the code', searchParams.get('code') ?? '')
  canaries.add('the state', searchParams.get('state') ?? '')
  canaries.add('the cookie', browser.cookie.split('=')[1] ?? '')
  const location = locationOf(await browser.open(callback))
  canaries.add('the ticket', ticketOf(location))
  const { access_token: token } = (await (await redeemTicket(platform.url, ticketOf(location))).json()) as {
    access_token: string
  }
  canaries.add('the token', token)
  pages.push(await browser.open(callback), await new TestBrowser(platform.gatewayUrl).open(callback))
  assert.deepEqual(
    pages.map(({ status }) => status),
    [502, 400, 400],
  )
  for (const page of pages) canaries.assertNone(await page.text(), 'a page')
  await redeemTicket(platform.url, ticketOf(location))
  canaries.assertNone(await (await fetch(`${platform.url}/metrics`)).text(), 'the metrics')
  canaries.assertNone(JSON.stringify(platform.logs()), 'the log')
  canaries.assertNone(platform.stderr(), 'standard error')
  const files = globSync(join(path, 'platform.db*'))
  assert.notEqual(files.length, 0)
  for (const file of files) canaries.assertNone(readFileSync(file, 'latin1'), file)
  const { stdout } = await runPlatform(['config'], {
    dataDir: path,
    env: settingsFor('http://127.0.0.1:8088'),
  })
  canaries.assertNone(stdout, 'what config prints')
  assert.match(stdout, /auth\.oidc\.client_secret +\*\*redacted\*\*/)
})
