import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'

// Chromium without a window and what belongs to one: it needs a third less processor time.
const PROGRAM = 'chromium-headless-shell'
const PATIENCE_MS = 120_000
const START_LIMIT_MS = 300_000
// The tests may run as root, where the sandbox does not start, and with little shared memory. The pages of a context share
// a process, which compiles their scripts once.
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--process-per-site']

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram(), args: ARGS, timeout: START_LIMIT_MS })
}

/** The system's own: the library would otherwise look for one that it has downloaded. */
function findProgram(): string {
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const found = directories.map((directory) => join(directory, PROGRAM)).find((file) => existsSync(file))
  if (!found)
    throw new Error(`the tests of the web pages need ${PROGRAM}; install it and have it in the PATH`)
  return found
}

/** A page, and what went wrong in it. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  /** What the page's scripts and the browser complained of; not that an answer was an error. */
  readonly complaints: readonly string[]
  /** Where the page has called. */
  readonly origins: ReadonlySet<string>
}

/** Opens a page in a browser profile of its own. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await openContext(browser, options)
  const opened = await openPageIn(context)
  return { ...opened, [Symbol.asyncDispose]: () => context.close() }
}

/** A browser profile. */
export function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext({ reducedMotion: 'reduce', ...options })
}

export async function openPageIn(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const complaints: string[] = []
  const origins = new Set<string>()
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (said) => {
    const text = said.text()
    const isAnswer = text.startsWith('Failed to load resource: the server responded')
    if (['error', 'warning'].includes(said.type()) && !isAnswer) complaints.push(text)
  })
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  return { page, complaints, origins, [Symbol.asyncDispose]: () => page.close() }
}
