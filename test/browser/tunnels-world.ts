import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { ensureBuilt } from '../../scripts/build-step.mjs'
import { CONSOLE } from '../../scripts/console-build.mjs'
import { eventually } from '../support/eventually.ts'
import { scopeOf } from '../support/scope.ts'
import { startTunnelsDouble, TOKENS, type TunnelsDouble } from '../support/tunnels-double.ts'
import { sessionItem, tunnelsAnswer, type SessionItem } from '../support/tunnels-sample.ts'
import { openPage, startBrowser } from './browser.ts'

export const PATIENCE = { timeoutMs: 120_000 }
const WIDE = { width: 1_440, height: 900 }
export const PHONE = { width: 360, height: 740 }

/** The fields of a session that name its user. */
export const user = (name: string) => ({ user: { id: name, name } })
export const FIVE: readonly SessionItem[] = [
  sessionItem({ virtual_ip: '100.64.0.2' }),
  sessionItem({ virtual_ip: '100.64.0.3', device: 'phone', rtt_ms: 134 }),
  sessionItem({ virtual_ip: '100.64.0.4', ...user('boris'), device: 'desktop', rtt_ms: 31 }),
  sessionItem({ virtual_ip: '100.64.0.9', ...user('clara'), gateway: 'standby', rtt_ms: 412 }),
  sessionItem({ virtual_ip: '100.64.0.12', ...user('kofi'), device: null, rtt_ms: null }),
]

// Browser of the test file that imports this.
let browser: Browser
before(async () => {
  // For a file that is run by itself; `npm test` has built the pages already.
  await ensureBuilt(CONSOLE, process.execPath)
  browser = await startBrowser()
})
after(() => browser?.close())

export interface Opened {
  readonly double: TunnelsDouble
  readonly page: Page
}

/** The page before a gateway that a test tells what to answer. */
export async function open(t: TestContext, options: BrowserContextOptions = {}): Promise<Opened> {
  const double = scopeOf(t).use(await startTunnelsDouble())
  double.state = tunnelsAnswer(FIVE)
  return { double, page: await openAt(t, double.url, options) }
}

/** The page as a reader finds it; at the end of the test it must have run cleanly and called nobody else. */
export async function openAt(
  t: TestContext,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const scope = scopeOf(t)
  const { page, complaints, origins } = scope.use(await openPage(browser, { viewport: WIDE, ...options }))
  scope.defer(() => {
    assert.deepEqual(complaints, [])
    assert.deepEqual([...origins], [url])
  })
  await page.goto(`${url}/tunnels`)
  return page
}

export async function openSignedIn(
  t: TestContext,
  sessions: readonly SessionItem[] = FIVE,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const opened = await open(t, options)
  opened.double.state = tunnelsAnswer(sessions)
  await signInWithToken(opened.page, TOKENS.reader)
  await opened.page.getByText('Live', { exact: true }).waitFor()
  return opened
}

export async function signInWithToken(page: Page, token: string): Promise<void> {
  await page.getByText('Token', { exact: true }).first().click()
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export const nodes = (page: Page, name?: RegExp): Locator => page.getByRole('treeitem', name ? { name } : {})
export const rows = (page: Page) => page.locator('tbody tr')
export const alert = (page: Page, text: RegExp) => page.getByRole('alert').filter({ hasText: text })
/** Waits until the table has so many rows. */
export const haveRows = (page: Page, count: number) =>
  eventually(`${count} rows`, async () => (await rows(page).count()) === count, PATIENCE)
