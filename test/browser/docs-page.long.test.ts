import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openApi } from '../integration/http/client.ts'
import { signIn } from '../integration/http/tokens.ts'
import { openPage, startBrowser } from './browser.ts'
import { contrasts, namelessRoles, sidewaysScroll } from './page-checks.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())
const browser = await startBrowser()
after(() => browser.close())

const { url } = api.platform

test('the API page lists every operation of the document without an error in the console', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}/docs`)
  await page.getByRole('heading', { level: 1, name: 'Backend platform' }).waitFor()
  assert.equal(await page.locator('details').count(), api.places.length)
  assert.equal(await page.getByRole('link', { name: 'openapi.json' }).getAttribute('href'), '/openapi.json')
  await page.locator('details > summary').evaluateAll((all) => {
    for (const summary of all) (summary as HTMLElement).click()
  })
  assert.deepEqual(opened.complaints, [])
  assert.deepEqual([...opened.origins], [url])
  assert.deepEqual(await namelessRoles(page), [])
})

test('the API page fits a phone, and its texts have enough contrast in both color schemes', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await using opened = await openPage(browser, { viewport: { width: 360, height: 740 }, colorScheme })
    const { page } = opened
    await page.goto(`${url}/docs#createOrder`)
    await page.getByRole('heading', { name: 'Try it' }).waitFor()
    assert.equal(await sidewaysScroll(page), 0)
    const texts = await contrasts(page, '.method, .muted, .docs code, .docs a, .docs pre, .docs h2')
    assert.ok(texts.length > 50)
    assert.deepEqual(
      texts.filter(({ ratio }) => ratio < 4.5),
      [],
    )
  }
})

test('the API page creates an order from its example, which has not expired', async () => {
  const { token } = await signIn(api, ['service'])
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}/docs#createOrder`)
  await page.getByLabel('Token').fill(token)
  const form = page.locator('#createOrder')
  await form.getByRole('button', { name: 'Send' }).click()
  const response = form.getByRole('status')
  await response.filter({ hasText: '201' }).waitFor()
  const [, ...lines] = (await response.innerText()).split('\n')
  const order = JSON.parse(lines.join('\n')) as { status: string; expires_at: string }
  assert.equal(order.status, 'pending')
  assert.ok(Date.parse(order.expires_at) > Date.now())
  assert.deepEqual(opened.complaints, [])
})
