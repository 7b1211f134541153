import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PAGES } from '../../../console/pages/console/pages.ts'
import { eventually } from '../../support/eventually.ts'
import { startFirefox, startWebKit, type OtherBrowser } from '../other-browser.ts'
import { consoleWorld, PASSWORD } from './console-world.ts'
import { pageTitle } from '../../../console/pages/console/page-words.ts'

const world = consoleWorld()

const BROWSERS = [
  { name: 'Firefox', start: startFirefox },
  { name: 'WebKit', start: startWebKit },
] as const

const heading = `document.querySelector('h1')?.textContent`
const text = `document.body.innerText`
const click = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.click()`
const clickButton = (label: string) =>
  `[...document.querySelectorAll('button')].findLast(({ innerText }) => innerText === ${JSON.stringify(label)})?.click()`

/** Types into the field that the selector finds, or chooses in it; true if it is there. */
const enter = (selector: string, value: string) => `(() => {
  const field = document.querySelector(${JSON.stringify(selector)})
  if (!field) return false
  field.value = ${JSON.stringify(value)}
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }))
  return true
})()`

async function signIn(browser: OtherBrowser, name: string): Promise<void> {
  await world.platform.call('POST', '/users', { body: { name, password: PASSWORD, roles: ['admin'] } })
  await browser.goTo(`${world.platform.url}/console/`)
  // It is no first visit, which begins with the tour.
  await browser.evaluate(`localStorage.setItem('platform.tour', 'yes')`)
  await eventually('the form', () => browser.evaluate(enter('[name=username]', name)))
  await browser.evaluate(enter('[name=password]', PASSWORD))
  await browser.evaluate(clickButton('Sign in'))
}

async function createTicket(browser: OtherBrowser, title: string): Promise<void> {
  await browser.evaluate(clickButton('New ticket'))
  await eventually('the form of a ticket', () => browser.evaluate(enter('dialog input[type=text]', title)))
  await browser.evaluate(enter('dialog select', 'low'))
  await browser.evaluate(clickButton('Create the ticket'))
}

describe('the console in other browsers', { concurrency: true }, () => {
  for (const { name, start } of BROWSERS) {
    test(`${name} opens each page, sends a form and is live`, async () => {
      await using browser = await start()
      const shows = (what: string, where = text) =>
        eventually(`${name} to show ${what}`, async () =>
          (await browser.evaluate<string>(where))?.includes(what),
        )
      await signIn(browser, `a-reader-in-${name}`)
      await shows('Overview', heading)
      for (const page of PAGES) {
        await browser.evaluate(click(`.side a[href="/console/${page.name}"]`))
        await shows(pageTitle(page.name), heading)
      }
      await browser.evaluate(click('.side a[href="/console/tickets"]'))
      await shows('Tickets', heading)
      await shows('Live')
      const body = { title: `Written beside ${name}`, level: 'low' }
      await world.platform.call('POST', '/tickets', { body })
      await shows(body.title)
      await createTicket(browser, `Written in ${name}`)
      await shows(`Written in ${name}`)
      assert.deepEqual(await browser.complaints(), [])
    })
  }
})
