import assert from 'node:assert/strict'
import { test } from 'node:test'
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
