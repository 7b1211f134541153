import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import type * as axeCore from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { ensureBuilt } from '../../../scripts/build-step.mjs'
import { CONSOLE } from '../../../scripts/console-build.mjs'
import { eventually } from '../../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { scopeOf } from '../../support/scope.ts'
import { openContext, openPageIn, startBrowser } from '../browser.ts'
import { sidewaysScroll } from '../page-checks.ts'

const WIDE = { width: 1_440, height: 900 }
const PHONE = { width: 360, height: 740 }
export const PASSWORD = 'a heavy brass telescope'

// Defined in the page by its script.
declare const axe: typeof axeCore
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What the tests of a file share: a browser and a platform, started once. */
export interface ConsoleWorld {
  readonly platform: ServedPlatform
  /** A signed-in page at a path of the console; it must have run cleanly at the end of the test. */
  open(t: TestContext, path: string, options?: OpenOptions): Promise<Page>
}

export interface OpenOptions extends BrowserContextOptions {
  readonly role?: string
  readonly language?: 'en' | 'zh'
  /** Whether it is the first visit, which begins with the tour. */
  readonly tour?: boolean
}

interface StartedWorld {
  readonly browser: Browser
  readonly platform: ServedPlatform
}

/** What the platform of a test file starts with. */
export interface WorldOptions {
  /** The configuration file. */
  readonly toml?: string
  /** Fills the data directory before the platform starts. */
  readonly prepare?: (dataDir: string) => Promise<void>
  /** Fills the platform before the first test. */
  readonly fill?: (platform: ServedPlatform) => Promise<void>
}

/** Declares the world of a test file; its platform and browser end after the last test. */
export function consoleWorld(
  env: Readonly<Record<string, string>> = {},
  { toml = '', prepare, fill }: WorldOptions = {},
): ConsoleWorld {
  const resources = new AsyncDisposableStack()
  const tokens = new Map<string, Promise<string>>()
  const contexts = new Map<string, Promise<BrowserContext>>()
  let started: StartedWorld | undefined
  const world = () => {
    if (!started) throw new Error('The world starts before the first test.')
    return started
  }
  before(async () => {
    // For a file that is run by itself; `npm test` has built the pages already.
    await ensureBuilt(CONSOLE, process.execPath)
    const directory = resources.use(temporaryDirectory())
    writeFileSync(join(directory.path, 'platform.toml'), toml)
    await prepare?.(directory.path)
    const settings = { API_RATE_LIMIT: '0', ...env }
    const platform = resources.use(await servePlatform({ dataDir: directory.path, env: settings }))
    await fill?.(platform)
    const browser = await startBrowser()
    resources.defer(() => browser.close())
    started = { browser, platform }
  })
  after(() => resources.disposeAsync())
  const contextOf = (options: BrowserContextOptions) =>
    contexts.getOrInsertComputed(JSON.stringify(options), async () => {
      const context = await openShared(world(), options)
      // A sign-out ends the token, so the next page needs another one.
      context.on('request', (request) => request.url().endsWith('/auth/logout') && tokens.clear())
      return context
    })
  const tokenOf = (role: string) => {
    const token = tokens.get(role) ?? createToken(world().platform, role)
    tokens.set(role, token)
    return token
  }
  return {
    get platform() {
      return world().platform
    },
    async open(t, path, { role = 'admin', language = 'en', tour = false, ...options } = {}) {
      const { platform } = world()
      const token = role === '' ? null : await tokenOf(role)
      const scope = scopeOf(t)
      const opened = scope.use(await openPageIn(await contextOf({ viewport: WIDE, ...options })))
      scope.defer(() => {
        assert.deepEqual(opened.complaints, [])
        assert.deepEqual([...opened.origins], [platform.url])
      })
      await opened.page.addInitScript(keepForPage, { token, language, tour })
      await opened.page.goto(`${platform.url}/console/${path}`)
      return opened.page
    },
  }
}

/** A profile with a page that stays open, so that the process of the site stays, too, with its compiled scripts. */
async function openShared(
  { browser, platform }: StartedWorld,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await openContext(browser, options)
  const page = await context.newPage()
  await page.goto(`${platform.url}/health/live`)
  return context
}

interface KeptForPage {
  readonly token: string | null
  readonly language: string
  readonly tour: boolean
}

/** Runs in the page before its scripts. */
function keepForPage({ token, language, tour }: KeptForPage): void {
  const isFirstVisit = sessionStorage.getItem('test.visited') === null
  sessionStorage.setItem('test.visited', 'yes')
  if (!isFirstVisit) return
  localStorage.clear()
  localStorage.setItem('platform.language', language)
  if (!tour) localStorage.setItem('platform.tour', 'yes')
  if (token !== null) sessionStorage.setItem('platform.token', token)
}

/** The token of a new user with this role. */
async function createToken(platform: ServedPlatform, role: string): Promise<string> {
  const body = { name: `the-${role}`, password: PASSWORD, roles: [role] }
  await platform.call('POST', '/users', { body })
  const login = await platform.call('POST', '/auth/login', {
    body: { username: body.name, password: PASSWORD },
  })
  const { access_token } = (await login.json()) as { access_token: string }
  return access_token
}

/** What axe finds against WCAG 2.2 AA, each with the elements. */
async function axeViolations(page: Page, skippedRules: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (skipped) => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { violations } = await axe.run(document, {
      runOnly: { type: 'tag', values: tags },
      resultTypes: ['violations'],
      rules: Object.fromEntries(skipped.map((rule) => [rule, { enabled: false }])),
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  }, skippedRules)
}

const LOOKS = [
  { viewport: WIDE, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
] as const

/** Looks at the page wide and light, then narrow and dark: axe finds nothing, and nothing is wider than the window. */
export async function assertLooks(
  page: Page,
  name: string,
  skippedRules: readonly string[] = [],
): Promise<void> {
  for (const look of LOOKS) await assertLook(page, name, look, skippedRules)
  await page.setViewportSize(WIDE)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Looks at the page once: wide and light unless another look is given. */
export async function assertLook(
  page: Page,
  name: string,
  { viewport, colorScheme }: (typeof LOOKS)[number] = LOOKS[0],
  skippedRules: readonly string[] = [],
): Promise<void> {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  const look = `${name}-${viewport.width}-${colorScheme}`
  await takePicture(page, look)
  // The picture of the tunnels is drawn again after the window has another size.
  await eventually(
    `${look}: nothing is wider than the window`,
    async () => (await sidewaysScroll(page)) === 0,
  )
  assert.deepEqual(await axeViolations(page, skippedRules), [], look)
}

// The looks that docs/guide/console.md shows, and the names of their pictures.
const GUIDE_PICTURES: Readonly<Record<string, string>> = {
  overview: 'console-overview',
  'overview-orders-360-dark': 'console-overview-phone',
  'alerts-drawer-1440-light': 'console-alert',
  'tickets-board-1440-light': 'console-board',
  'tickets-drawer-360-dark': 'console-phone',
  'commands-drawer-1440-light': 'console-command',
  'menus-conflict-1440-light': 'console-menus',
}

/** For people: `SCREENSHOTS=directory` gets every look, `GUIDE_PICTURES=docs/images` the pictures of the guide. */
export async function takePicture(page: Page, look: string): Promise<void> {
  const { SCREENSHOTS: all, GUIDE_PICTURES: guide } = process.env
  const picture = GUIDE_PICTURES[look]
  if (all !== undefined) await page.screenshot({ path: `${all}/${look}.png` })
  if (guide !== undefined && picture !== undefined) await page.screenshot({ path: `${guide}/${picture}.png` })
}

/** A VPN session of a new user, open until the end of the test. */
export async function connectVpn(
  t: TestContext,
  platform: ServedPlatform,
  name: string,
  device: string,
): Promise<void> {
  await platform.call('POST', '/users', { body: { name, password: PASSWORD, roles: ['service'] } })
  const login = await platform.call('POST', '/auth/login', { body: { username: name, password: PASSWORD } })
  const { access_token } = (await login.json()) as { access_token: string }
  const address = `${platform.gatewayUrl.replace('http', 'ws')}/vpn?device=${device}`
  const socket = new WebSocket(address, ['platform.vpn.v1', `bearer.${access_token}`])
  scopeOf(t).defer(() => socket.close())
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as { type: string; seq?: number }
    if (frame.type === 'heartbeat') socket.send(JSON.stringify({ type: 'heartbeat_ack', seq: frame.seq }))
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('message', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
}

/** Opens the editor of a filter of the list: by its chip, or by the menu if it has none yet. */
export async function openFilter(page: Page, name: string): Promise<void> {
  const chip = page.locator('.chip-edit').filter({ hasText: `${name}:` })
  if ((await chip.count()) > 0) return chip.click()
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** Sets a filter of the list to one of its choices. */
export async function filterBy(page: Page, name: string, choice: string): Promise<void> {
  await openFilter(page, name)
  await page.getByRole('menuitemradio', { name: choice, exact: true }).click()
}

/** Sets a filter of the list to a text. */
export async function filterByText(page: Page, name: string, text: string): Promise<void> {
  await openFilter(page, name)
  const panel = page.getByRole('dialog', { name })
  await panel.getByRole('textbox').or(panel.getByRole('combobox')).fill(text)
  await page.keyboard.press('Enter')
}

/** Text that a page must show as text: markup, a right-to-left override, emoji. */
export const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202Egpj.exe 👩‍🚀 {{7*7}} ${7*7}'

/** The same as a page shows it. */
export const SHOWN_HOSTILE = HOSTILE.replace('\u202E', '[U+202E]')
