import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { ensureBuilt } from '../../scripts/build-step.mjs'
import { CONSOLE } from '../../scripts/console-build.mjs'
import { systemClock } from '../../src/kernel/clock.ts'
import { freePort } from '../support/loopback.ts'
import { startTestProvider } from '../support/mock-oidc.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { MOCK_USER, ticketOf } from '../support/sign-in.ts'
import { openPage, startBrowser } from './browser.ts'
import { contrasts, namelessRoles, sidewaysScroll } from './page-checks.ts'

let browser: Browser
before(async () => {
  // For a file that is run by itself; `npm test` has built the pages already.
  await ensureBuilt(CONSOLE, process.execPath)
  browser = await startBrowser()
})
after(() => browser?.close())

/** A platform that signs in at a mock provider, and comes back to its api or its gateway. */
async function openWorld(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const scope = scopeOf(t)
  const provider = scope.use(await startTestProvider({}, systemClock))
  const { path } = scope.use(temporaryDirectory())
  const port = await freePort()
  const platform = scope.use(
    await servePlatform({
      dataDir: path,
      env: {
        LISTEN_ADDR: `127.0.0.1:${port}`,
        AUTH_OIDC_ISSUER: provider.url,
        AUTH_OIDC_CLIENT_ID: 'cli_mock_docvalue_0001',
        AUTH_OIDC_CLIENT_SECRET: 'mock_secret_docvalue_0001',
        AUTH_OIDC_REDIRECT_URI: `http://127.0.0.1:${port}/auth/oauth/callback`,
        AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: 'true',
        ...env,
      },
    }),
  )
  return { platform, provider, scope }
}

test('a person signs in, and the page gets a ticket that scripts can redeem', async (t) => {
  const { platform, scope } = await openWorld(t)
  const user = { name: MOCK_USER, password: 'a heavy brass telescope', roles: ['devops'] }
  assert.equal((await platform.call('POST', '/users', { body: user })).status, 201)
  const { page } = scope.use(await openPage(browser))
  await page.goto(`${platform.url}/auth/oauth/login?return_to=/docs`)
  assert.equal(page.url().split('#', 1)[0], `${platform.url}/docs`)
  const ticket = ticketOf(page.url())
  assert.notEqual(ticket, '')
  assert.equal(await page.evaluate(() => document.cookie), '', 'scripts do not see the cookie')
  const login = await page.evaluate(async (text) => {
    const body = JSON.stringify({ ticket: text })
    const response = await fetch('/auth/oauth/redeem', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return (await response.json()) as { access_token: string; user: { name: string } }
  }, ticket)
  assert.equal(login.user.name, MOCK_USER)
  const me = await fetch(`${platform.url}/auth/me`, {
    headers: { authorization: `Bearer ${login.access_token}` },
  })
  assert.equal(me.status, 200)
})

test('the page of a failure is readable in both color schemes, fits a phone, and runs without a complaint', async (t) => {
  const { platform, scope } = await openWorld(t)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints, origins } = scope.use(
      await openPage(browser, { viewport: { width: 320, height: 640 }, colorScheme }),
    )
    await page.goto(`${platform.url}/auth/oauth/login?return_to=/docs`)
    await page.getByRole('heading', { level: 1, name: 'The platform does not know you' }).waitFor()
    assert.ok((await page.locator('main').innerText()).includes(MOCK_USER))
    assert.equal(await sidewaysScroll(page), 0)
    assert.deepEqual(await namelessRoles(page), [])
    const texts = await contrasts(page, 'h1, p, a, footer, code')
    assert.ok(texts.length >= 6)
    assert.deepEqual(
      texts.filter(({ ratio }) => ratio < 4.5),
      [],
    )
    assert.deepEqual(complaints, [])
    assert.equal(origins.size, 2)
    const directory = process.env['SCREENSHOTS']
    if (directory !== undefined) await page.screenshot({ path: `${directory}/sign-in-${colorScheme}.png` })
  }
})

test('after a failure the link on the page begins again and leads to the same place', async (t) => {
  const { platform, scope } = await openWorld(t)
  const { page } = scope.use(await openPage(browser))
  await page.goto(`${platform.url}/auth/oauth/login?return_to=/docs`)
  const user = { name: MOCK_USER, password: 'a heavy brass telescope', roles: ['devops'] }
  assert.equal((await platform.call('POST', '/users', { body: user })).status, 201)
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await page.waitForURL(/#signed-in=/)
  assert.match(page.url(), /\/docs#signed-in=[\w-]{43}$/)
})

test('a callback that another page opens in the browser of a victim signs nobody in', async (t) => {
  const { platform, scope } = await openWorld(t, {
    AUTH_OIDC_CREATE_USERS: 'true',
    AUTH_OIDC_DEFAULT_ROLES: 'auditor',
  })
  const attacker = await fetch(`${platform.url}/auth/oauth/login`, { redirect: 'manual' })
  const answer = await fetch(attacker.headers.get('location') ?? '', { redirect: 'manual' })
  const { page } = scope.use(await openPage(browser))
  await page.goto(answer.headers.get('location') ?? '')
  await page.getByRole('heading', { name: 'This sign-in does not belong to this browser' }).waitFor()
})
