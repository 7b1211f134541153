import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { ensureBuilt } from '../../scripts/build-step.mjs'
import { CONSOLE } from '../../scripts/console-build.mjs'
import { openPage, startBrowser } from '../../test/browser/browser.ts'
import { shownAfter, timeStep, type Step } from './console-page.ts'

const WINDOW = { width: 1_440, height: 900 }

/** A view of the console, and what is on screen as soon as it is complete. */
export interface View {
  readonly path: string
  readonly complete: string
}

/** A complete view in a browser profile of its own, whose cache was empty. */
export interface OpenView extends AsyncDisposable {
  readonly page: Page
  /** From the start of the navigation. */
  readonly milliseconds: number
  /** Bytes of the files until then; the bytes of the API are not among them. */
  readonly fileBytes: number
  readonly compressedBytes: number
  /** The milliseconds from an action until the page shows its result. */
  time(step: Step): Promise<number>
}

/** A browser whose user is signed in at the console of one platform. */
export interface ConsoleBrowser extends AsyncDisposable {
  readonly version: string
  open(view: View): Promise<OpenView>
}

export async function startConsoleBrowser(port: number, token: string): Promise<ConsoleBrowser> {
  await ensureBuilt(CONSOLE, process.execPath)
  const browser = await startBrowser()
  return {
    version: browser.version(),
    open: (view) => openView(browser, `http://127.0.0.1:${port}/console/`, token, view),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

async function openView(browser: Browser, url: string, token: string, view: View): Promise<OpenView> {
  await using stack = new AsyncDisposableStack()
  const { page, complaints } = stack.use(await openPage(browser, { viewport: WINDOW }))
  await page.addInitScript((value) => sessionStorage.setItem('platform.token', value), token)
  const files: Promise<Buffer>[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(url)) files.push(response.body())
  })
  await page.goto(`${url}${view.path}`, { waitUntil: 'commit' })
  const shown = await page.waitForFunction(shownAfter, view.complete)
  const milliseconds = await shown.jsonValue()
  const contents = await Promise.all(files)
  if (complaints.length > 0) throw new Error(`the page ${view.path} complained: ${complaints.join('; ')}`)
  const kept = stack.move()
  return {
    page,
    milliseconds,
    fileBytes: sum(contents),
    compressedBytes: sum(contents.map((content) => gzipSync(content))),
    time: (step) => page.evaluate(timeStep, step),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function sum(contents: readonly Buffer[]): number {
  return contents.reduce((bytes, { length }) => bytes + length, 0)
}
