import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertLooks, consoleWorld, PASSWORD } from './console-world.ts'

// The provider of this address never answers: only the way to it is looked at.
const world = consoleWorld({
  AUTH_OIDC_ISSUER: 'http://127.0.0.1:1',
  AUTH_OIDC_CLIENT_ID: 'console',
  AUTH_OIDC_CLIENT_SECRET: 'not-a-real-secret-value-0001',
  AUTH_OIDC_REDIRECT_URI: 'http://127.0.0.1:2/auth/oauth/callback',
  AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: 'true',
})

const NOBODY = { role: '' }

/** Signs in by the form until the outcome is there: on a busy machine the page may give up waiting for a password hash. */
async function signInByForm(page: Page, name: string, password: string, outcome: Locator): Promise<void> {
  const gaveUp = page.getByRole('alert').getByText('cannot be reached')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  do {
    await page.getByRole('button', { name: 'Sign in', exact: true }).press('Enter')
    await outcome.or(gaveUp).first().waitFor()
  } while (!(await outcome.isVisible()))
}

test('a person signs in with name and password, and sees the view of the address', async (t) => {
  const body = { name: 'ada', password: PASSWORD, roles: ['admin'] }
  assert.equal((await world.platform.call('POST', '/users', { body })).status, 201)
  const page = await world.open(t, 'orders?status=paid', NOBODY)
  await page.locator('input[name="username"]:focus').waitFor()
  await signInByForm(
    page,
    'ada',
    'wrong',
    page.getByRole('alert').getByText('Name or password is wrong, or the account is disabled.'),
  )
  await assertLooks(page, 'sign-in-refused')
  await signInByForm(page, 'ada', PASSWORD, page.getByText('No order matches the filters.'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.getItem('platform.token')), null)
})

test('another user of the same tab begins with the first page, and sees nothing of the former one', async (t) => {
  const body = { name: 'boris', password: PASSWORD, roles: ['auditor'] }
  assert.equal((await world.platform.call('POST', '/users', { body })).status, 201)
  const page = await world.open(t, 'settings')
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await page.evaluate(() => document.body.setAttribute('data-former', ''))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInByForm(page, 'boris', PASSWORD, page.getByRole('heading', { level: 1, name: 'Overview' }))
  assert.equal(await page.locator('[data-former]').count(), 0)
  await page.goto(`${world.platform.url}/console/users`)
  await page.getByRole('link', { name: 'To the first page' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})

test('the page is translated, and the choice lasts', async (t) => {
  const page = await world.open(t, '', NOBODY)
  await page.getByRole('button', { name: '中文' }).click()
  await page.getByRole('button', { name: '登录', exact: true }).waitFor()
  await assertLooks(page, 'sign-in-zh')
  await page.reload()
  await page.getByRole('button', { name: '登录', exact: true }).waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN')
})

test('the way to the provider leads back to the view', async (t) => {
  const page = await world.open(t, 'tickets?view=board', NOBODY)
  const address = await page
    .getByRole('link', { name: 'Sign in with your organization' })
    .getAttribute('href')
  assert.equal(address, '/auth/oauth/login?return_to=%2Fconsole%2Ftickets%3Fview%3Dboard')
})

test('a ticket of the provider that is not valid leaves the address, with a message', async (t) => {
  const page = await world.open(t, 'orders#signed-in=abc', NOBODY)
  await page.getByRole('alert').getByText('This sign-in took too long').waitFor()
  assert.equal(new URL(page.url()).hash, '')
})

test('the colours follow the choice of the user', async (t) => {
  const page = await world.open(t, 'orders', { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const light = await ground()
  await page.getByLabel('Colours').selectOption('Dark')
  assert.notEqual(await ground(), light)
})

async function login(username: string): Promise<{ readonly access_token: string }> {
  const answer = await world.platform.call('POST', '/auth/login', { body: { username, password: PASSWORD } })
  return (await answer.json()) as { access_token: string }
}

/** A new user, who is signed in at this path. */
async function signedIn(t: TestContext, name: string, path: string) {
  const { platform } = world
  const body = { name, password: PASSWORD, roles: ['devops'] }
  const { id } = (await (await platform.call('POST', '/users', { body })).json()) as { id: string }
  const { access_token } = await login(name)
  const page = await world.open(t, 'overview', NOBODY)
  await page.evaluate((token) => sessionStorage.setItem('platform.token', token), access_token)
  await page.goto(`${platform.url}/console/${path}`)
  const revoke = async () => {
    for (const enabled of [false, true]) await platform.call('PATCH', `/users/${id}`, { body: { enabled } })
  }
  return { page, revoke }
}

const newTicket = (page: Page) => page.getByRole('dialog', { name: 'New ticket' })

async function fillTicket(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: 'New ticket' }).click()
  await newTicket(page).getByLabel('Title').fill(title)
  await newTicket(page).getByLabel('Level').selectOption('Low')
}

test('what is typed in a form is there again when the same user signs in after the session has ended', async (t) => {
  const { page, revoke } = await signedIn(t, 'dora', 'tickets')
  await fillTicket(page, 'Half written')
  await revoke()
  await newTicket(page).getByRole('button', { name: 'Create the ticket' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.getByRole('alert').getByText('Your session has ended').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.equal(await again.getByLabel('Name', { exact: true }).inputValue(), 'dora')
  await assertLooks(page, 'sign-in-again')
  await signInByForm(page, 'dora', PASSWORD, page.getByText('Live', { exact: true }))
  await again.waitFor({ state: 'detached' })
  assert.equal(await newTicket(page).getByLabel('Title').inputValue(), 'Half written')
  assert.equal(await page.getByText('Your session has ended').count(), 0)
  await newTicket(page).getByRole('button', { name: 'Create the ticket' }).click()
  await page.getByRole('region', { name: 'Half written' }).waitFor()
})

test('another user who signs in after the session has ended finds nothing that was typed', async (t) => {
  await signedIn(t, 'emil', 'tickets')
  const { page, revoke } = await signedIn(t, 'fritz', 'tickets')
  await fillTicket(page, 'Only for me')
  await revoke()
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  await signInByForm(page, 'emil', PASSWORD, page.getByRole('heading', { level: 1, name: 'Overview' }))
  await page.goto(`${world.platform.url}/console/tickets`)
  await page.getByRole('button', { name: 'New ticket' }).click()
  assert.equal(await newTicket(page).getByLabel('Title').inputValue(), '')
  assert.doesNotMatch(await page.content(), /Only for me/)
})

/** Runs in the page: the answers of the platform have other dates. */
function shiftDates(ms: number): void {
  const get = Headers.prototype.get
  Headers.prototype.get = function (name) {
    const value = get.call(this, name)
    return name === 'date' && value !== null ? new Date(Date.parse(value) + ms).toUTCString() : value
  }
}

test('before the session ends the console says so, also in a form, and goes on after another sign-in', async (t) => {
  const { page } = await signedIn(t, 'greta', 'tickets')
  await fillTicket(page, 'A long text')
  await page.evaluate(shiftDates, 56 * 60_000)
  // The page reads its list again, and so learns the time.
  await world.platform.call('POST', '/tickets', { body: { title: 'Of another person', level: 'low' } })
  await newTicket(page).getByText('Your session ends at').waitFor()
  await assertLooks(page, 'session-ends')
  const former = await page.evaluate(() => sessionStorage.getItem('platform.token'))
  await newTicket(page).getByRole('button', { name: 'Sign in again' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.getByRole('button', { name: 'Later' }).click()
  await newTicket(page).getByRole('button', { name: 'Sign in again' }).click()
  await page.evaluate(shiftDates, -56 * 60_000)
  await again.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
  await newTicket(page).getByText('Your session ends at').waitFor({ state: 'detached' })
  assert.equal(await newTicket(page).getByLabel('Title').inputValue(), 'A long text')
  assert.notEqual(await page.evaluate(() => sessionStorage.getItem('platform.token')), former)
})

test('a link that is opened in a new tab is signed in there, and a sign-out ends the session in all tabs', async (t) => {
  const page = await world.open(t, 'overview')
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Tickets', exact: true }).click({ modifiers: ['ControlOrMeta'] })
  const tab = await opened
  t.after(() => tab.close())
  await tab.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.reload()
  await tab.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
})

test('a sign-out in another tab leaves what is typed here for the next sign-in of its user', async (t) => {
  const [page, other] = [await world.open(t, 'tickets'), await world.open(t, 'overview')]
  await fillTicket(page, 'Typed before')
  await other.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
  assert.equal(await newTicket(page).getByLabel('Title').inputValue(), 'Typed before')
})

test('a tab that is not opened from the console has no session', async (t) => {
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const tab = await page.context().newPage()
  t.after(() => tab.close())
  await tab.goto(`${world.platform.url}/console/tickets`)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
})

test('a sign-in with the provider in a new tab goes on with what is typed in this one', async (t) => {
  const { page, revoke } = await signedIn(t, 'hanna', 'tickets')
  await fillTicket(page, 'Typed before')
  await revoke()
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  const link = again.getByRole('link', { name: 'Sign in with your organization, in a new tab' })
  assert.equal(await link.getAttribute('target'), '_blank')
  const tab = await page.context().newPage()
  t.after(() => tab.close())
  // The answer for a ticket of the provider.
  const json = await login('hanna')
  await tab.route('**/auth/oauth/redeem', (route) => route.fulfill({ json }))
  await tab.goto(`${world.platform.url}/console/tickets#signed-in=abc`)
  await again.waitFor({ state: 'detached' })
  assert.equal(await newTicket(page).getByLabel('Title').inputValue(), 'Typed before')
})

test('a session that has ended asks for another sign-in, and goes on at the same view', async (t) => {
  const page = await world.open(t, 'alerts')
  await page.getByText('No alert was ever reported.').waitFor()
  const list = await world.platform.call('GET', '/users')
  const { items } = (await list.json()) as { items: { id: string; name: string }[] }
  const id = items.find(({ name }) => name === 'the-admin')?.id ?? ''
  const change = (body: object) => world.platform.call('PATCH', `/users/${id}`, { body })
  await change({ enabled: false })
  await page.getByRole('alert').getByText('Your session has ended').waitFor()
  await change({ enabled: true })
  await signInByForm(page, 'the-admin', PASSWORD, page.getByText('No alert was ever reported.'))
})
