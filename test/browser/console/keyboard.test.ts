import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../support/eventually.ts'
import { assertLook, assertLooks, consoleWorld } from './console-world.ts'

const world = consoleWorld()

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** The name of what has the focus: that of a field, or the text of a button, a link or a heading. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (!element || element === document.body) return ''
    const label = element instanceof HTMLInputElement || element instanceof HTMLSelectElement
    const field = label || element instanceof HTMLTextAreaElement ? element.labels?.[0] : undefined
    return (element.ariaLabel ?? (field ?? element).textContent).trim()
  })
}

// Who needs more steps than this does not find it.
const MOST_STEPS = 10

async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  while (passed.length < MOST_STEPS) {
    await page.keyboard.press('Tab')
    const reached = await focused(page)
    if (reached === name) return
    passed.push(reached)
  }
  assert.fail(`"${name}" is not reached: ${passed.join(', ')}`)
}

test('an order is found, opened and moved by keyboard alone', async (t) => {
  for (const order_id of ['keys-1', 'keys-2', 'keys-3']) {
    const body = { order_id, platform: 'live', amount_cents: 4_990 }
    await world.platform.call('POST', '/orders', { body })
  }
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await press(page, 'g', 'o')
  await page.getByRole('link', { name: 'keys-2' }).waitFor()
  await press(page, '/')
  await page.keyboard.type('keys-2')
  await press(page, 'Enter')
  const order = drawer(page, 'keys-2')
  await order.getByText('Pending', { exact: true }).waitFor()
  assert.equal(await focused(page), 'keys-2')
  await tabTo(page, 'Mark as paid')
  await press(page, 'Enter')
  await order.getByRole('button', { name: 'Mark as shipped', disabled: false }).waitFor()
  assert.equal(await focused(page), 'keys-2', 'the focus stays in the order when its button has gone')
  await tabTo(page, 'Mark as shipped')
  await press(page, 'Enter')
  await order.getByText('Shipped', { exact: true }).first().waitFor()
  await press(page, 'Escape')
  await order.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'keys-2', 'the focus returns to the row')
})

test('a ticket is created, assigned and commented on by keyboard alone', async (t) => {
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await press(page, 'g', 't')
  await page.getByText('There are no tickets yet.').waitFor()
  await press(page, 'n', 't')
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByLabel('Title').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('The lamp is broken')
  await tabTo(page, 'Level (required)')
  await page.keyboard.type('Medium')
  await press(page, 'Control+Enter')
  const ticket = drawer(page, 'The lamp is broken')
  await ticket.getByRole('heading', { name: 'The lamp is broken' }).and(page.locator(':focus')).waitFor()
  await press(page, '2')
  assert.equal(await focused(page), 'Resolve')
  await press(page, '1', 'Enter')
  await ticket.getByText('In progress', { exact: true }).first().waitFor()
  await press(page, '2')
  assert.equal(await focused(page), 'Resolve', 'a key does the same in every state')
  await ticket.getByRole('button', { name: 'Assign to me', disabled: false }).waitFor()
  await tabTo(page, 'Assign to me')
  await press(page, 'Enter')
  await ticket.getByRole('button', { name: 'Unassign' }).waitFor()
  assert.equal(await focused(page), 'The lamp is broken')
  await tabTo(page, 'Comment')
  for (const text of ['A new lamp is ordered.', 'It comes on Monday.']) {
    await page.keyboard.type(text)
    await press(page, 'Control+Enter')
    await ticket.getByRole('list', { name: 'Comments' }).getByText(text).waitFor()
    assert.equal(await focused(page), 'Comment', 'the focus stays in the field')
    const field = ticket.getByRole('textbox', { name: 'Comment' })
    await eventually('the field is empty again', async () => (await field.inputValue()) === '')
  }
  await page.getByRole('row').filter({ hasText: 'The lamp is broken' }).getByText('Medium').waitFor()
  await press(page, 'Escape', 'Escape')
  await ticket.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'The lamp is broken')
})

test('a dialog that is closed returns the focus, also the one in front of another dialog', async (t) => {
  const page = await world.open(t, 'orders')
  const button = page.getByRole('button', { name: 'New order' })
  await button.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'New order' })
  const platform = dialog.getByLabel('Platform')
  await platform.fill('live')
  await page.keyboard.press('Escape')
  const question = page.getByRole('alertdialog', { name: 'Close the form?' })
  await question.getByRole('button', { name: 'Keep editing' }).press('Enter')
  await platform.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await button.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await button.and(page.locator(':focus')).waitFor()
})

const FOUND = [
  { text: 'appro', address: '/executions?status=awaiting_approval' },
  { text: 'dead', address: '/messages?status=dead' },
  { text: '心跳', address: '/heartbeats' },
  { text: 'mute', address: '/silences' },
  { text: '待办', address: '/my-work' },
] as const

test('the palette finds pages and filtered views by the words that people type', async (t) => {
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const { text, address } of FOUND) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to or do' }).fill(text)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console${address}`)
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to or do' }).fill('new ticket')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New ticket' }).waitFor()
  assert.ok(page.url().endsWith('/console/tickets'))
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  const options = page.getByRole('dialog', { name: 'Go to or do' }).getByRole('option')
  assert.deepEqual((await options.allTextContents()).slice(0, 2), ['New ticketnt', 'Go to My workgq'])
  for (const [text, title] of [
    ['退出', 'Sign out'],
    ['logout', 'Sign out'],
    ['夜间', 'Colours: Dark'],
  ]) {
    await page.getByRole('combobox', { name: 'Go to or do' }).fill(text ?? '')
    assert.equal((await options.allTextContents())[0], title)
  }
  await page.keyboard.press('Enter')
  await page.locator(':root[data-theme="dark"]').waitFor()
})

test('the groups of the navigation fold, which the browser remembers; the open page stays in sight', async (t) => {
  const page = await world.open(t, 'orders')
  const navigation = page.getByRole('navigation', { name: 'Pages' })
  const shop = navigation.getByRole('button', { name: 'Shop' })
  await shop.press('Enter')
  await navigation.getByRole('link', { name: 'Payments' }).waitFor({ state: 'detached' })
  await navigation.getByRole('link', { name: 'Orders' }).waitFor()
  await page.reload()
  await navigation.getByRole('link', { name: 'Orders' }).waitFor()
  assert.equal(await shop.getAttribute('aria-expanded'), 'false')
  assert.equal(await navigation.getByRole('link', { name: 'Payments' }).count(), 0)
  await page.setViewportSize({ width: 390, height: 740 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Shop' }).click()
  await assertLook(page, 'navigation', { viewport: { width: 390, height: 740 }, colorScheme: 'dark' })
  await page.getByRole('dialog').getByRole('link', { name: 'Payments' }).click()
  await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor()
})

test('the first visit begins with a tour, once, in both languages and by keyboard', async (t) => {
  const page = await world.open(t, 'overview', { tour: true, language: 'zh' })
  const tour = page.getByRole('dialog', { name: '控制台导览' })
  await tour.getByText('第 1 步，共 5 步').waitFor()
  for (let step = 1; step < 5; step++) await page.keyboard.press('Enter')
  await tour.getByText('第 5 步，共 5 步').waitFor()
  await assertLooks(page, 'tour-zh')
  await page.keyboard.press('Enter')
  await tour.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await tour.count(), 0)
  const other = await world.open(t, 'overview', { tour: true })
  await other
    .getByRole('dialog', { name: 'A tour of the console' })
    .getByRole('button', { name: 'Skip' })
    .click()
  await other.reload()
  await other.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await other.getByRole('dialog').count(), 0)
})

test('a user has on one page what waits for them', async (t) => {
  const page = await world.open(t, 'my-work')
  await page.getByText('You have acknowledged no alert that still fires.').waitFor()
  const { sub: id } = await page.evaluate(() => {
    const [, body = ''] = (sessionStorage.getItem('platform.token') ?? '').split('.')
    return JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: string }
  })
  const post = async (path: string, body: object) => {
    const answer = await world.platform.call('POST', path, { body })
    assert.ok(answer.ok, path)
    return (await answer.json()) as { id: string }
  }
  const ticket = await post('/tickets', { title: 'A ticket of mine', level: 'high' })
  const assigned = await world.platform.call('PUT', `/tickets/${ticket.id}`, { body: { assignee: id } })
  assert.ok(assigned.ok)
  const others = await post('/alerts/report', { source: 'a', title: 'Taken by another', level: 'HIGH' })
  await post(`/alerts/${others.id}/acknowledge`, {})
  const own = await post('/alerts/report', { source: 'b', title: 'Taken by me', level: 'CRITICAL' })
  await page.goto(`${world.platform.url}/console/alerts/${own.id}`)
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('status').filter({ hasText: 'The alert is acknowledged.' }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'My work' }).click()
  await page.getByRole('heading', { level: 1, name: 'My work' }).waitFor()
  await page.getByRole('link', { name: 'A ticket of mine' }).waitFor()
  await page.getByRole('link', { name: 'Taken by me' }).waitFor()
  assert.equal(await page.getByText('Taken by another').count(), 0)
  await assertLooks(page, 'my-work')
})

test('an object leads to what belongs to it', async (t) => {
  const order = { order_id: 'related-1', platform: 'live', amount_cents: 4_990 }
  await world.platform.call('POST', '/orders', { body: order })
  const page = await world.open(t, 'orders/related-1')
  await page.getByRole('link', { name: 'Messages of its time' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  await drawer(page, 'related-1').getByText('49.90').waitFor()
  for (const unprinted of ['navigation', 'search', 'banner', 'button', 'checkbox'] as const)
    assert.equal(await page.getByRole(unprinted).filter({ visible: true }).count(), 0, unprinted)
  assert.equal(await page.getByRole('link', { name: 'Messages of its time' }).count(), 0)
  await page.emulateMedia({ media: 'screen' })
  await drawer(page, 'related-1').getByRole('link', { name: 'Payments' }).click()
  await page.waitForURL('**/payments?order_id=related-1')
  await page.goto(`${world.platform.url}/console/users`)
  await page.getByRole('link', { name: 'the-admin' }).click()
  await assertLooks(page, 'users-related')
  const changes = drawer(page, 'the-admin').getByRole('list', { name: 'Who changed this' })
  await changes.getByText('Create a user').waitFor()
  assert.equal(await changes.getByText('Sign in').count(), 0)
  await drawer(page, 'the-admin').getByRole('link', { name: 'Executions' }).click()
  await page.waitForURL('**/executions?requested_by=*')
})

test('the browser notifies of new alerts from a chosen severity on, and its tab says how many are unseen', async (t) => {
  const page = await world.open(t, 'alerts', { permissions: ['notifications'] })
  await page.getByText('Live', { exact: true }).waitFor()
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', {
      get: () => document.documentElement.dataset['hidden'] === 'yes',
    })
    document.documentElement.dataset['hidden'] = 'yes'
    const shown: string[] = []
    class Notice extends EventTarget {
      static readonly permission = 'granted'
      static readonly requestPermission = async () => 'granted'
      constructor(title: string) {
        super()
        shown.push(title)
        document.documentElement.dataset['shown'] = shown.join('; ')
      }
    }
    Object.assign(globalThis, { Notification: Notice })
  })
  await page.getByLabel('Notify this browser').selectOption('From High')
  const endsAt = new Date(Date.now() + 3_600_000).toISOString()
  const silence = { matchers: { source: 'notices.quiet' }, reason: 'a test', ends_at: endsAt }
  assert.equal((await world.platform.call('POST', '/alerts/silences', { body: silence })).status, 201)
  for (const [source, title, level] of [
    ['notices', 'Not told', 'WARNING'],
    ['notices.quiet', 'Silenced', 'CRITICAL'],
    ['notices', 'Told', 'CRITICAL'],
  ])
    await world.platform.call('POST', '/alerts/report', { body: { source, title, level } })
  await page.locator(':root[data-shown="Critical: Told"]').waitFor()
  assert.equal(await page.title(), '(1) Alerts')
  await page.evaluate(() => {
    document.documentElement.dataset['hidden'] = 'no'
    document.dispatchEvent(new Event('visibilitychange'))
  })
  assert.equal(await page.title(), 'Alerts')
})

test('the palette opens what looks like the id of an object, and says what it finds', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to or do' })
  await palette.getByRole('combobox').fill('?')
  await palette.getByText('No such page or action. Orders, tickets').waitFor()
  assert.equal(await palette.getByRole('option').count(), 0)
  await palette.getByRole('combobox').fill('parcel')
  assert.deepEqual(await palette.getByRole('option').allTextContents(), [
    'Orders whose ids begin with \u2068parcel\u2069',
    'Alerts with the text \u2068parcel\u2069',
    'Tickets with the text \u2068parcel\u2069',
  ])
  await palette.getByRole('combobox').fill('order-17')
  await palette.getByRole('option', { name: 'Open the order order-17' }).waitFor()
  await palette.getByRole('combobox').fill('begun-9')
  await palette.getByRole('option', { name: 'Open the order begun-9' }).click()
  await page.waitForURL('**/orders?id_prefix=begun-9')
  await page.keyboard.press('Control+k')
  const body = { title: 'By its id', level: 'low' }
  const created = await world.platform.call('POST', '/tickets', { body })
  const { id } = (await created.json()) as { id: string }
  await palette.getByRole('combobox').fill(id)
  await page.keyboard.press('Enter')
  await drawer(page, 'By its id').waitFor()
  const { items } = (await (await world.platform.call('GET', '/messages')).json()) as {
    items: { id: string }[]
  }
  const message = items[0]?.id ?? ''
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').fill(message)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/messages/${message}`)
  const unknown = '01900000-0000-7000-8000-000000000000'
  await page.keyboard.press('Control+k')
  await palette.getByRole('combobox').fill(unknown)
  await palette.getByRole('option', { name: `Open what has the id ${unknown}` }).click()
  await page
    .getByRole('status')
    .filter({ hasText: `with the id ${unknown}.` })
    .waitFor()
})

/** A machine with too much to do draws no frame for a while. */
function drawNoFrame(): void {
  globalThis.requestAnimationFrame = () => 0
}

/** Notes whether a heading has the focus as soon as it is in the page. */
function watchHeading(text: string): void {
  const observer = new MutationObserver(() => {
    const heading = [...document.querySelectorAll('h1, h2')].find((each) => each.textContent === text)
    if (!heading) return
    document.documentElement.dataset['focused'] = heading === document.activeElement ? text : 'another'
    observer.disconnect()
  })
  observer.observe(document, { childList: true, subtree: true })
}

test('keys reach what they are meant for before the next frame is drawn', async (t) => {
  const order = { order_id: 'frame-1', platform: 'framed', amount_cents: 4_990 }
  await world.platform.call('POST', '/orders', { body: order })
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.evaluate(drawNoFrame)
  await page.evaluate(watchHeading, 'Orders')
  await press(page, 'g', 'o')
  await page.locator(':root[data-focused="Orders"]').waitFor()
  await press(page, 'f', 'p', 'Enter')
  await page.keyboard.type('framed')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'Platform: framed' }).and(page.locator(':focus')).waitFor()
  await press(page, 'Tab', 'Enter')
  await page.getByRole('button', { name: 'Add filter' }).and(page.locator(':focus')).waitFor()
  await page.evaluate(watchHeading, 'frame-1')
  await press(page, '/')
  await page.keyboard.type('frame-1')
  await press(page, 'Enter')
  await page.locator(':root[data-focused="frame-1"]').waitFor()
  await press(page, 'g', 't')
  await page.getByRole('heading', { level: 1, name: 'Tickets' }).waitFor()
  await press(page, '/')
  await page.keyboard.type('par')
  await press(page, 'Enter')
  await page.keyboard.type('cel')
  await page.waitForURL('**/tickets?text=par')
  assert.equal(await page.getByRole('searchbox').inputValue(), 'parcel')
})

test('an address that names no page says so', async (t) => {
  const page = await world.open(t, 'no-such-page')
  await page.getByText('There is no such page').waitFor()
  for (const path of ['orders/a/b', 'orders/%E0%A4%A', '%']) {
    await page.goto(`${world.platform.url}/console/${path}`)
    await page.getByText('There is no such page').waitFor()
  }
})
