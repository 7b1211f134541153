import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertLook,
  assertLooks,
  consoleWorld,
  filterBy,
  filterByText,
  HOSTILE,
  openFilter,
} from './console-world.ts'

const world = consoleWorld()

async function createOrder(order_id: string, more: object = {}): Promise<void> {
  const body = { order_id, platform: 'live', amount_cents: 4_990, ...more }
  assert.equal((await world.platform.call('POST', '/orders', { body })).status, 201)
}

const moveOrder = (id: string, status: string) =>
  world.platform.call('PUT', `/orders/${id}`, { body: { status } })
const row = (page: Page, id: string) => page.getByRole('row').filter({ hasText: id })
const drawer = (page: Page, id: string) => page.getByRole('region', { name: id })

/** Whether the page is behind another tab. */
const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

test('without an order the list says so', async (t) => {
  for (const [language, text] of [
    ['en', 'There are no orders yet.'],
    ['zh', '还没有订单。'],
  ] as const) {
    const page = await world.open(t, 'orders', { language })
    await page.getByText(text).waitFor()
    await assertLooks(page, `orders-empty-${language}`)
  }
})

test('an order is created, with the faults of the API at their fields', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('button', { name: 'New order' }).click()
  const dialog = page.getByRole('dialog', { name: 'New order' })
  await dialog.getByLabel('Order').fill('not an id')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await dialog.locator('.fault').first().waitFor()
  assert.equal(await dialog.locator('[aria-invalid="true"]').count(), 3)
  // A body that is too large is not read; its longest field is to blame.
  await dialog.getByLabel('Platform').fill('x'.repeat(1_048_576))
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await dialog.locator('.fault').getByText('The body is larger than 1 MiB.').waitFor()
  assert.equal(await dialog.locator('[aria-invalid="true"]').count(), 1)
  await dialog.getByLabel('Platform').fill('')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await dialog.locator('[aria-invalid="true"]').nth(2).waitFor()
  assert.equal(await dialog.getByLabel('Order').evaluate((field) => field === document.activeElement), true)
  await assertLooks(page, 'orders-form')
  await dialog.getByLabel('Order').fill('made-here-1')
  await dialog.getByLabel('Platform').fill('live')
  await dialog.getByLabel('Amount').fill('49,90')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await page.getByText('Order made-here-1 was created.').waitFor()
  await drawer(page, 'made-here-1').getByText('49.90').waitFor()
  await row(page, 'made-here-1').waitFor()
})

test('an amount is accepted as lists show it, and another text is refused at the field', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('button', { name: 'New order' }).click()
  const dialog = page.getByRole('dialog', { name: 'New order' })
  await dialog.getByLabel('Order').fill('amount-1')
  await dialog.getByLabel('Platform').fill('live')
  for (const text of ['-5', '49.999', '¥20']) {
    await dialog.getByLabel('Amount').fill(text)
    await dialog.getByRole('button', { name: 'Create the order' }).click()
    const fault = dialog.getByText('Enter an amount such as 49.90: at least 0, with at most two decimals.')
    await fault.waitFor()
    assert.equal(await dialog.getByLabel('Amount').getAttribute('aria-invalid'), 'true')
    // The next answer is to be a new one.
    await dialog.getByLabel('Amount').fill('')
    await dialog.getByRole('button', { name: 'Create the order' }).click()
    await dialog.getByText('This field is required.').waitFor()
  }
  await dialog.getByLabel('Amount').fill('1,299.00')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await drawer(page, 'amount-1').getByText('1,299.00').waitFor()
})

test('an order is found, moved and looked at with its history', async (t) => {
  await createOrder('found-1')
  const page = await world.open(t, 'orders')
  await page.getByRole('searchbox', { name: 'Find by id or its beginning' }).fill('found-1')
  await page.keyboard.press('Enter')
  await drawer(page, 'found-1').getByText('Expires').waitFor()
  await drawer(page, 'found-1').getByRole('button', { name: 'Mark as paid' }).click()
  await drawer(page, 'found-1').getByText('Expires', { exact: true }).waitFor({ state: 'detached' })
  const history = drawer(page, 'found-1').getByRole('list', { name: 'History' })
  await history.getByText('Paid').waitFor()
  await row(page, 'found-1').getByText('Paid').waitFor()
  assert.equal(await page.title(), 'found-1 – Orders')
  await assertLooks(page, 'orders-drawer')
  await page.keyboard.press('Escape')
  await drawer(page, 'found-1').waitFor({ state: 'detached' })
  assert.equal(await page.title(), 'Orders')
  await page.goto(`${world.platform.url}/console/orders/unknown`)
  await page.getByRole('alert').getByText('unknown').waitFor()
})

test('the beginning of an id finds the orders that have it; without any the list says how it compares', async (t) => {
  for (const id of ['begun-1', 'begun-2', 'Begun-3']) await createOrder(id)
  const page = await world.open(t, 'orders')
  await row(page, 'begun-2').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('begun')
  await page.keyboard.press('Enter')
  await row(page, 'Begun-3').waitFor({ state: 'detached' })
  assert.deepEqual(await page.locator('.row-link').allTextContents(), ['begun-1', 'begun-2'])
  assert.equal(await page.getByRole('searchbox').inputValue(), 'begun')
  await assertLooks(page, 'orders-search')
  await page.getByRole('searchbox').fill('BEGUN')
  await page.keyboard.press('Enter')
  await page.getByText('Capital and small letters differ: “ABC” does not find “abc”.').waitFor()
  await page.getByRole('searchbox').fill('')
  await page.keyboard.press('Enter')
  await row(page, 'Begun-3').waitFor()
  await page.getByRole('searchbox').fill('begun')
  await page.keyboard.press('Enter')
  await row(page, 'Begun-3').waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox').and(page.locator(':not(:focus)')).waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'begun', 'Escape leaves the field')
  await page.getByRole('searchbox').fill('')
  await page.keyboard.press('Enter')
  await row(page, 'Begun-3').waitFor()
  await page.getByRole('searchbox').fill('half a')
  await page.getByLabel('Language').selectOption('zh')
  await page.getByLabel('语言').selectOption('en')
  await page.getByPlaceholder('Find by id or its beginning').waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'half a')
  await page.goto(`${world.platform.url}/console/orders/Beg`)
  await drawer(page, 'Beg').getByRole('link', { name: 'Show the orders whose ids begin with it' }).click()
  await row(page, 'Begun-3').waitFor()
})

test('half a time is refused at its field, and cleared with the filters', async (t) => {
  const page = await world.open(t, 'orders?status=paid')
  await page.getByRole('button', { name: 'New order' }).click()
  const dialog = page.getByRole('dialog', { name: 'New order' })
  await dialog.getByLabel('Order').fill('half-1')
  await dialog.getByLabel('Platform').fill('live')
  await dialog.getByLabel('Amount').fill('1')
  await dialog.getByLabel('Expires').click()
  await page.keyboard.type('12012026')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await dialog.locator('.fault').getByText('A part of the value is missing.').waitFor()
  await dialog.getByLabel('Expires').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('12012026')
  await page.keyboard.type('0130PM')
  await dialog.getByRole('button', { name: 'Create the order' }).click()
  await drawer(page, 'half-1').getByText('1 Dec 2026').first().waitFor()
  await openFilter(page, 'Created')
  const from = page.getByRole('dialog', { name: 'Created' }).getByLabel('From')
  await from.click()
  await page.keyboard.type('11252026')
  await page.getByRole('button', { name: 'Apply' }).click()
  assert.equal(await from.evaluate((input) => (input as HTMLInputElement).validity.badInput), true)
  assert.equal(new URL(page.url()).search, '?status=paid')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.waitForURL((url) => url.search === '')
  await page.getByRole('button', { name: 'Add filter' }).and(page.locator(':focus')).waitFor()
})

test('a filter is a chip: added by keyboard, changed by a click, removed by its cross', async (t) => {
  await createOrder('recent-1')
  const page = await world.open(t, 'orders')
  await row(page, 'recent-1').waitFor()
  await page.getByRole('button', { name: 'Add filter' }).press('Enter')
  await page.keyboard.press('c')
  await page.keyboard.press('Enter')
  const periods = page.getByRole('menu', { name: 'Period' }).getByRole('menuitemradio')
  assert.deepEqual(await periods.allTextContents(), [
    'Last 10 minutes',
    'Last hour',
    'Today',
    'Last 24 hours',
    'Last 7 days',
    'Last 30 days',
  ])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/orders?created=last-1h')
  const chip = page.locator('.chip-edit')
  await chip.and(page.locator(':focus')).waitFor()
  assert.equal(await chip.textContent(), 'Created: Last hour')
  await row(page, 'recent-1').waitFor()
  await openFilter(page, 'Created')
  await page.getByRole('menuitemradio', { name: 'Last hour', checked: true }).waitFor()
  await page.getByRole('dialog', { name: 'Created' }).getByLabel('Before').fill('2026-01-01T12:00')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL('**/orders?created_to=2026-01-01T*')
  await page.getByText('Created: before 1 Jan 2026').waitFor()
  await page.getByRole('button', { name: 'Remove the filter Created' }).click()
  await page.waitForURL((url) => url.search === '')
  await page.getByRole('button', { name: 'Add filter' }).and(page.locator(':focus')).press('Enter')
  await page.getByRole('menuitem', { name: 'Status' }).click()
  await page.keyboard.press('Escape')
  await page.locator('.chip').waitFor({ state: 'detached' })
})

test('unpaid orders of a platform that are due in 10 minutes are two clicks away, once they are a view', async (t) => {
  const soon = new Date(Date.now() + 5 * 60_000).toISOString()
  await createOrder('due-late', { platform: 'due' })
  await createOrder('due-soon', { platform: 'due', expires_at: soon })
  const page = await world.open(t, 'orders?platform=due')
  await row(page, 'due-late').waitFor()
  await filterBy(page, 'Expires', 'Within 10 minutes')
  await row(page, 'due-late').waitFor({ state: 'detached' })
  await row(page, 'due-soon')
    .getByText(/^in \d min$/)
    .last()
    .waitFor()
  await page
    .getByRole('columnheader', { name: 'Expires' })
    .and(page.locator('[aria-sort="ascending"]'))
    .waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  const views = page.getByRole('dialog', { name: 'Views' })
  await views.getByLabel('Name of a new view').fill('Due soon')
  await page.keyboard.press('Enter')
  await page.goto(`${world.platform.url}/console/orders`)
  await row(page, 'due-late').waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await assertLooks(page, 'orders-views')
  await views.getByRole('link', { name: 'Due soon' }).click()
  await row(page, 'due-late').waitFor({ state: 'detached' })
  await row(page, 'due-soon').waitFor()
  assert.equal(new URL(page.url()).search, '?platform=due&expires=next-10m')
  await page.getByRole('button', { name: 'Due soon', exact: true }).click()
  await views.getByRole('button', { name: 'Rename the view' }).click()
  await views.getByLabel('Name of the view').fill('In 10 minutes')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'In 10 minutes', exact: true }).waitFor()
  await views.getByRole('button', { name: 'Remove the view' }).click()
  await page.getByRole('button', { name: 'Views' }).waitFor()
})

test('columns are chosen and remembered, and a click on their head sorts', async (t) => {
  await createOrder('sorted-1', { platform: 'sorted', expires_at: '2096-01-31T03:00:00Z' })
  await createOrder('sorted-2', { platform: 'sorted', expires_at: '2096-01-31T02:00:00Z' })
  await createOrder('sorted-3', { platform: 'sorted' })
  await moveOrder('sorted-3', 'paid')
  const page = await world.open(t, 'orders?platform=sorted')
  await row(page, 'sorted-3').waitFor()
  const heads = async () => (await page.locator('thead th').allTextContents()).filter(Boolean)
  assert.deepEqual(await heads(), ['Order', 'Status', 'Platform', 'Amount', 'Created'])
  await page.getByRole('button', { name: 'Columns' }).click()
  const columns = page.getByRole('dialog', { name: 'Columns' })
  await columns.getByLabel('Platform').uncheck()
  await columns.getByLabel('Expires').check()
  await assertLook(page, 'orders-columns')
  await page.reload()
  await page.getByRole('button', { name: 'Expires' }).click()
  await row(page, 'sorted-3').waitFor({ state: 'detached' })
  assert.deepEqual(await page.locator('.row-link').allTextContents(), ['sorted-2', 'sorted-1'])
  assert.deepEqual(await heads(), ['Order', 'Status', 'Amount', 'Created', 'Expires'])
  assert.equal(new URL(page.url()).search, '?platform=sorted&sort=expires_at')
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const file = await saved
  assert.equal(file.suggestedFilename(), 'orders.csv')
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  assert.deepEqual(
    lines.map((line) => line.split(',')[0]),
    ['\uFEFForder_id', 'sorted-2', 'sorted-1'],
  )
  await page.getByRole('button', { name: 'Created' }).click()
  await row(page, 'sorted-3').waitFor()
})

test('several orders are moved together, each as far as it may be', async (t) => {
  for (const id of ['bulk-1', 'bulk-2', 'bulk-3']) await createOrder(id, { platform: 'bulk' })
  await moveOrder('bulk-1', 'paid')
  const page = await world.open(t, 'orders?platform=bulk')
  await row(page, 'bulk-3').waitFor()
  assert.equal(await page.locator('.selection-bar').count(), 0)
  await page.getByRole('checkbox', { name: 'Select the whole page' }).check()
  const bar = page.getByRole('group', { name: '3 selected' })
  assert.deepEqual((await bar.getByRole('button').allTextContents()).slice(-2), ['Select none', 'Expire'])
  await assertLook(page, 'orders-chosen')
  await bar.getByRole('button', { name: 'Mark as paid' }).click()
  const question = page.getByRole('alertdialog', { name: 'Mark as paid: 2 selected?' })
  await question.getByRole('button', { name: 'Mark as paid' }).click()
  await page.getByRole('status').filter({ hasText: 'Mark as paid: 2 done.' }).waitFor()
  await bar.waitFor({ state: 'detached' })
  await row(page, 'bulk-3').getByText('Paid').waitFor()
  await page.getByRole('checkbox', { name: 'bulk-2' }).check()
  assert.equal(await page.getByRole('button', { name: 'Mark as paid' }).count(), 0)
  await page.getByRole('button', { name: 'Select none' }).click()
  await page.getByRole('checkbox', { name: 'Select the whole page' }).and(page.locator(':focus')).waitFor()
})

async function endedIn(page: Page, from: string, before: string): Promise<void> {
  await openFilter(page, 'Completed or expired')
  const panel = page.getByRole('dialog', { name: 'Completed or expired' })
  await panel.getByLabel('From').fill(from)
  await panel.getByLabel('Before').fill(before)
  await panel.getByRole('button', { name: 'Apply' }).click()
}

test('the orders that ended in a time range are found, the latest first', async (t) => {
  for (const id of ['ended-1', 'ended-2', 'ended-3']) await createOrder(id)
  await moveOrder('ended-2', 'expired')
  await moveOrder('ended-1', 'expired')
  const page = await world.open(t, 'orders?platform=live')
  await row(page, 'ended-3').waitFor()
  await endedIn(page, '2026-01-01T12:00', '')
  await filterBy(page, 'Status', 'Expired')
  await row(page, 'ended-3').waitFor({ state: 'detached' })
  const listed = (await page.locator('.row-link').allTextContents()).filter((id) => id.startsWith('ended-'))
  assert.deepEqual(listed, ['ended-1', 'ended-2'])
  await endedIn(page, '2026-01-01T12:00', '2026-01-01T13:00')
  await page.getByText('No order matches the filters.').waitFor()
  await endedIn(page, '2026-01-01T12:00', '2026-01-01T11:00')
  await page.getByText('The period ends before it begins.').waitFor()
  await filterBy(page, 'Completed or expired', 'Today')
  await filterBy(page, 'Status', 'Paid')
  await page.getByText('Only a completed or expired order has an end.').waitFor()
})

test('the filter of the platform offers those of the list, and says how it compares', async (t) => {
  await createOrder('listed-1', { platform: 'Kiosk' })
  const page = await world.open(t, 'orders')
  await row(page, 'listed-1').waitFor()
  await openFilter(page, 'Platform')
  const offered = await page
    .locator('.chip datalist option')
    .evaluateAll((all) => all.map((each) => each.getAttribute('value')))
  assert.ok(offered.includes('Kiosk'))
  await page.keyboard.type('kiosk')
  await page.keyboard.press('Enter')
  await page.getByText('Texts are compared as a whole; capital and small letters differ.').waitFor()
  await filterByText(page, 'Platform', 'Kiosk')
  await row(page, 'listed-1').waitFor()
})

test('filters are kept in the address, and pages follow a cursor', async (t) => {
  await Promise.all(
    Array.from({ length: 110 }, (_, index) => createOrder(`page-${index}`, { platform: 'paged' })),
  )
  const page = await world.open(t, 'orders?platform=paged')
  await page.getByText('50 on this page').waitFor()
  const first = await page.locator('.row-link').first().textContent()
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByRole('link', { name: first ?? '', exact: true }).waitFor({ state: 'detached' })
  await page.getByText('50 on this page').waitFor()
  await page.waitForFunction(() => scrollY === 0)
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByText('10 on this page').waitFor()
  await page.goto(`${world.platform.url}/console/orders?platform=paged&cursor=unknown`)
  await page.getByText('There is no such page of the list.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  await page.getByRole('link', { name: 'Newest' }).click()
  await page.getByText('50 on this page').waitFor()
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByRole('link', { name: 'Older' }).click()
  await page.getByText('10 on this page').waitFor()
  await page.getByRole('button', { name: 'Newer' }).click()
  await page.getByText('50 on this page').waitFor()
  await filterBy(page, 'Status', 'Expired')
  await page.getByText('No order matches the filters.').waitFor()
  assert.equal(new URL(page.url()).search, '?platform=paged&status=expired')
  await page.getByRole('button', { name: 'Clear all' }).click()
  assert.equal(new URL(page.url()).search, '')
})

test('the focus of a row that leaves the list goes to the next one, and of the last ones to the page', async (t) => {
  for (const id of ['leaves-1', 'leaves-2', 'leaves-3']) await createOrder(id, { platform: 'leaving' })
  const page = await world.open(t, 'orders?platform=leaving&status=pending')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'leaves-3' }).focus()
  await moveOrder('leaves-3', 'paid')
  await page.getByRole('link', { name: 'leaves-2' }).and(page.locator(':focus')).waitFor()
  await Promise.all(['leaves-1', 'leaves-2'].map((id) => moveOrder(id, 'paid')))
  await page.getByText('No order matches the filters.').waitFor()
  await page.locator('main:focus').waitFor()
})

test('two browsers see the changes of each other, and a conflict shows both versions', async (t) => {
  await createOrder('shared-1')
  const [one, other] = [await world.open(t, 'orders/shared-1'), await world.open(t, 'orders')]
  await one.getByText('Live', { exact: true }).waitFor()
  await other.getByText('Live', { exact: true }).waitFor()
  // The answer to this page comes from before the other one's change.
  await one.route('**/orders/shared-1', async (route) => {
    if (route.request().method() === 'PUT') await moveOrder('shared-1', 'paid')
    await route.continue()
  })
  await one.getByRole('button', { name: 'Expire' }).click()
  await one.getByRole('alertdialog').getByRole('button', { name: 'Expire' }).click()
  const conflict = one.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('cell', { name: 'Paid' }).waitFor()
  await conflict.getByText('Yours is not possible after it.').waitFor()
  assert.equal(await conflict.getByRole('button', { name: 'Apply my change anyway' }).count(), 0)
  await assertLooks(one, 'orders-conflict')
  await conflict.getByRole('button', { name: 'Keep the current version' }).click()
  await row(other, 'shared-1').getByText('Paid').waitFor()
  await createOrder('shared-2')
  await row(one, 'shared-2').waitFor()
})

test('a page that nobody sees has no connection, and catches up when it is seen', async (t) => {
  await createOrder('seen-1')
  const page = await world.open(t, 'orders')
  await page.getByText('Live', { exact: true }).waitFor()
  const isEvents = (request: { url(): string }) => request.url().endsWith('/events')
  const ended = page.waitForEvent('requestfailed', isEvents)
  await setHidden(page, true)
  await ended
  await createOrder('unseen-1')
  await setHidden(page, false)
  await row(page, 'unseen-1').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
})

test('what could not be read while the platform was away is read when it is back', async (t) => {
  await createOrder('back-1')
  const page = await world.open(t, 'orders')
  // The script of the page is loaded then.
  await row(page, 'back-1').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const away = ['**/events', '**/orders/back-1', '**/assets/*.js']
  for (const each of away) await page.route(each, (route) => route.fulfill({ status: 503 }))
  // The stream begins again when the page is seen again.
  for (const hidden of [true, false]) await setHidden(page, hidden)
  await page.getByText('Not up to date').waitFor()
  await row(page, 'back-1').getByRole('link').click()
  await drawer(page, 'back-1').getByRole('button', { name: 'Try again' }).waitFor()
  for (const each of away) await page.unroute(each)
  await drawer(page, 'back-1').getByText('Pending').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
})

test('a page that is opened while the platform is away is there when it is back', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByText('Live', { exact: true }).waitFor()
  await page.route('**/assets/*.js', (route) => route.fulfill({ status: 503 }))
  const refused = page.waitForResponse((response) => response.status() === 503)
  await page.getByRole('link', { name: 'Menus', exact: true }).click()
  await refused
  await page.unroute('**/assets/*.js')
  await page.getByRole('heading', { level: 1, name: 'Menus' }).waitFor()
})

test('a page whose code is on its way says so', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/console/assets/**', async (route) => {
    await released
    await route.continue()
  })
  await page.getByRole('navigation').getByRole('link', { name: 'Certificates' }).click()
  const progress = page.locator('.page-progress')
  await progress.waitFor()
  release()
  await page.getByRole('heading', { level: 1, name: 'Certificates' }).waitFor()
  await progress.waitFor({ state: 'detached' })
})

test('two people who move an order to the same status have no conflict to decide about', async (t) => {
  await createOrder('same-1')
  const page = await world.open(t, 'orders/same-1', { language: 'zh' })
  await page.route('**/orders/same-1', async (route) => {
    if (route.request().method() === 'PUT') await moveOrder('same-1', 'paid')
    await route.continue()
  })
  await drawer(page, 'same-1').getByRole('button', { name: '标记为已付款' }).click()
  await page.getByRole('status').filter({ hasText: '其他人或程序已经完成了相同的修改。' }).waitFor()
  assert.equal(await page.getByRole('alertdialog').count(), 0)
})

test('a change of status is sent once, and its buttons are disabled until it is done', async (t) => {
  await createOrder('slow-1')
  const page = await world.open(t, 'orders/slow-1')
  // The looks take longer here than the console waits for an answer.
  await page.evaluate(() => void (AbortSignal.timeout = () => new AbortController().signal))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let sent = 0
  await page.route('**/orders/slow-1', async (route) => {
    if (route.request().method() === 'PUT') {
      sent += 1
      await released
    }
    await route.continue()
  })
  const shown = drawer(page, 'slow-1')
  await shown.getByRole('button', { name: 'Mark as paid' }).dblclick()
  await shown.getByRole('status').getByText('Saving …').waitFor()
  assert.equal(await shown.getByRole('button', { name: /Mark as paid|Expire/, disabled: true }).count(), 2)
  await page.keyboard.press('Enter')
  await assertLooks(page, 'orders-saving')
  release()
  await shown.getByRole('button', { name: 'Mark as shipped' }).waitFor()
  assert.equal(sent, 1)
  assert.equal(await page.getByText('Another person or program').count(), 0)
})

test('a second click on the place of a button does not press the button that has come there', async (t) => {
  await createOrder('twice-1')
  await moveOrder('twice-1', 'paid')
  const page = await world.open(t, 'orders/twice-1')
  const shown = drawer(page, 'twice-1')
  const box = await shown.getByRole('button', { name: 'Mark as shipped' }).boundingBox()
  assert.ok(box)
  const click = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await click()
  await shown.getByRole('button', { name: 'Mark as shipped' }).waitFor({ state: 'detached' })
  await click()
  assert.equal(await page.getByRole('alertdialog').count(), 0)
  await shown.getByRole('button', { name: 'Complete', disabled: false }).waitFor()
  await click()
  const question = page.getByRole('alertdialog', { name: 'Complete the order twice-1?' })
  await question.getByText('This cannot be undone').waitFor()
  await question.getByRole('button', { name: 'Complete' }).click()
  await shown.getByRole('list', { name: 'History' }).getByText('Completed').waitFor()
})

test('an expired order shows until when it was payable, and when it expired', async (t) => {
  await createOrder('due-1', { expires_at: '2026-01-31T02:00:00Z' })
  await moveOrder('due-1', 'expired')
  const page = await world.open(t, 'orders/due-1', { timezoneId: 'Asia/Shanghai' })
  const shown = drawer(page, 'due-1')
  await shown.getByRole('term').filter({ hasText: 'Payable until' }).waitFor()
  await shown.getByText('31 Jan 2026, 10:00:00').waitFor()
  await shown.getByRole('term').filter({ hasText: 'Expired' }).waitFor()
})

test('the history of an order that nobody paid says so', async (t) => {
  await createOrder('unpaid-1', { expires_at: new Date(Date.now() + 1_000).toISOString() })
  const page = await world.open(t, 'orders/unpaid-1')
  const history = drawer(page, 'unpaid-1').getByRole('list', { name: 'History' })
  await history.getByText('by the platform: it was not paid in time').waitFor()
})

test('a role sees only what it may do', async (t) => {
  await createOrder('read-only-1')
  const page = await world.open(t, 'orders/read-only-1', { role: 'devops' })
  await drawer(page, 'read-only-1').getByText('Pending').first().waitFor()
  assert.equal(await page.getByRole('button', { name: /Mark as paid|New order/ }).count(), 0)
  const stranger = await world.open(t, 'orders', { role: 'auditor' })
  await stranger.getByText('There is no such page, or your roles do not allow it.').waitFor()
  assert.equal(await stranger.getByRole('link', { name: 'Orders' }).count(), 0)
})

test('a platform that does not answer is described, and tried again', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('table').waitFor()
  const json = { code: 'store_unavailable', message: 'The database is unavailable; retry.' }
  await page.route('**/orders?*', (route) => route.fulfill({ status: 503, json }))
  await filterBy(page, 'Status', 'Paid')
  await page.getByRole('alert').getByText('The database does not answer at the moment.').waitFor()
  await assertLooks(page, 'orders-failed')
  await page.unroute('**/orders?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('a toast is beside the navigation, and the list beside an order shows when each one changed', async (t) => {
  await createOrder('beside-1')
  const page = await world.open(t, 'orders/beside-1')
  await drawer(page, 'beside-1').getByRole('button', { name: 'Mark as paid' }).click()
  const toast = page.locator('.toast')
  await toast.waitFor()
  const navigation = await page.locator('.side').boundingBox()
  const box = await toast.boundingBox()
  assert.ok(navigation && box && box.x > navigation.x + navigation.width)
  await row(page, 'beside-1').locator('time:visible').waitFor()
  await assertLooks(page, 'orders-toast')
})

test('the keyboard is enough', async (t) => {
  await createOrder('keys-1')
  await createOrder('keys-2')
  const page = await world.open(t, 'orders')
  await row(page, 'keys-2').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
  await page.keyboard.press('j')
  assert.equal(await focused(), 'keys-2')
  await page.keyboard.press('j')
  assert.equal(await focused(), 'keys-1')
  await page.keyboard.press('Enter')
  await drawer(page, 'keys-1').getByRole('button', { name: 'Mark as paid' }).waitFor()
  assert.equal(await focused(), 'keys-1')
  await page.keyboard.press('Escape')
  await drawer(page, 'keys-1').waitFor({ state: 'detached' })
  assert.equal(await focused(), 'keys-1')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to or do' }).fill('keys-2')
  await page.keyboard.press('Enter')
  await drawer(page, 'keys-2').waitFor()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard' })
  await keys.getByRole('heading', { name: 'Go to a page' }).waitFor()
  await keys.getByText('Go to Orders').waitFor()
  await keys.getByText('Open the row or the link that has the focus').waitFor()
  await keys.getByText('Leave the field, then close what is open').waitFor()
  await assertLooks(page, 'orders-keys')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'text')
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  assert.equal(await focused(), 'keys-1')
  await page.keyboard.press('n')
  await page.keyboard.press('t')
  await page.getByRole('dialog', { name: 'New ticket' }).waitFor()
})

test('hostile text is shown as text', async (t) => {
  await createOrder('hostile-1', { platform: HOSTILE.slice(0, 64) })
  const page = await world.open(t, 'orders')
  await row(page, 'hostile-1').getByText(HOSTILE.slice(0, 40)).waitFor()
  await page.goto(`${world.platform.url}/console/orders/hostile-1`)
  await drawer(page, 'hostile-1').getByText(HOSTILE.slice(0, 40)).waitFor()
  await assertLooks(page, 'orders-hostile')
})

test('a list keeps its place while its orders are shown beside it, and on a phone in front of it', async (t) => {
  const last = 'place-01'
  for (let number = 1; number <= 45; number++) await createOrder(`place-${String(number).padStart(2, '0')}`)
  const page = await world.open(t, 'orders')
  const scrollTop = () => page.evaluate(() => Math.round(scrollY))
  const open = async (id: string) => {
    await row(page, id).getByRole('link').click()
    await drawer(page, id).getByText('Expires').waitFor()
    return scrollTop()
  }
  await row(page, last).scrollIntoViewIfNeeded()
  const place = await scrollTop()
  assert.ok(place > 100, `${place}`)
  assert.equal(await open(last), place)
  assert.equal(await open('place-04'), place)
  await page.keyboard.press('Escape')
  await drawer(page, 'place-04').waitFor({ state: 'detached' })
  assert.equal(await scrollTop(), place)
  await page.setViewportSize({ width: 360, height: 740 })
  await openFilter(page, 'Created')
  await assertLooks(page, 'orders-filter')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.keyboard.press('Escape')
  await row(page, last).scrollIntoViewIfNeeded()
  const phonePlace = await scrollTop()
  assert.equal(await open(last), 0)
  await drawer(page, last).getByRole('button', { name: 'Close' }).click()
  await row(page, last).waitFor()
  assert.equal(await scrollTop(), phonePlace)
})
