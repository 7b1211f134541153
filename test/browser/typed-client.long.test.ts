import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import type * as TypedClient from '../../clients/typescript/src/index.ts'
import { buildModules } from '../../scripts/build-client.ts'
import { openApi } from '../integration/http/client.ts'
import { signIn } from '../integration/http/tokens.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { openPage, startBrowser } from './browser.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())
const browser = await startBrowser()
after(() => browser.close())
const built = temporaryDirectory()
after(() => built[Symbol.dispose]())
await buildModules(built.path)

/** A page of the platform's origin, with the modules of the client beside it. */
async function openOwnPage(page: Page): Promise<void> {
  await page.route('**/own/**', (routed) => {
    const file = new URL(routed.request().url()).pathname.slice('/own/'.length)
    return file === ''
      ? routed.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Own page</title>' })
      : routed.fulfill({
          contentType: 'text/javascript',
          body: readFileSync(join(built.path, file), 'utf8'),
        })
  })
  await page.goto(`${api.platform.url}/own/`)
}

test('a page of the same origin makes calls, reads lists and follows events', async () => {
  const { token } = await signIn(api, ['service'])
  await using opened = await openPage(browser)
  await openOwnPage(opened.page)
  const seen = await opened.page.evaluate(async (accessToken) => {
    const path = '/own/index.js'
    const { createClient } = (await import(path)) as typeof TypedClient
    const platform = createClient({ url: '', token: accessToken })
    for (const id of ['browser-1', 'browser-2', 'browser-3'])
      await platform.call('createOrder', { body: { order_id: id, platform: 'live', amount_cents: 1 } })
    const listed: string[] = []
    for await (const order of platform.list('listOrders', { query: { limit: 2 } }))
      listed.push(order.order_id)
    const followed: string[] = []
    for await (const event of platform.events({ subjects: ['order.*'], lastEventId: '0' })) {
      if (event.kind !== 'reset') followed.push(`${event.subject} ${event.envelope.subject}`)
      if (followed.length === 3) break
    }
    return { listed, followed }
  }, token)
  assert.deepEqual(seen.listed.toSorted(), ['browser-1', 'browser-2', 'browser-3'])
  assert.deepEqual(
    seen.followed,
    ['browser-1', 'browser-2', 'browser-3'].map((id) => `order.created ${id}`),
  )
  assert.deepEqual(opened.complaints, [])
})

test('a refused call is an error with its code and its faulty fields', async () => {
  const { token } = await signIn(api, ['service'])
  await using opened = await openPage(browser)
  await openOwnPage(opened.page)
  const error = await opened.page.evaluate(async (accessToken) => {
    const path = '/own/index.js'
    const { createClient, PlatformError } = (await import(path)) as typeof TypedClient
    const body = { order_id: 'browser-4', platform: 'live', amount_cents: -1 }
    const call = createClient({ url: '', token: accessToken }).call('createOrder', { body })
    return call.catch((reason: unknown) =>
      reason instanceof PlatformError ? { status: reason.status, details: reason.details } : String(reason),
    )
  }, token)
  assert.ok(typeof error === 'object' && 'status' in error, JSON.stringify(error))
  assert.equal(error.status, 400)
  assert.match(JSON.stringify(error.details), /amount_cents/)
})
