import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertLooks, consoleWorld, HOSTILE } from './console-world.ts'

const world = consoleWorld()

let reported = 0

async function reportAlert(title: string, more: object = {}): Promise<string> {
  // Many of one source would be one line of the list.
  const body = { source: `shop.web-${++reported}`, title, level: 'HIGH', ...more }
  const answer = await world.platform.call('POST', '/alerts/report', { body })
  assert.equal(answer.status, 201)
  return ((await answer.json()) as { id: string }).id
}

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title })
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

const EMPTY = [
  { path: 'alerts', en: 'No alert was ever reported.', zh: '还没有收到过告警。' },
  { path: 'silences', en: 'No alert was ever silenced.', zh: '还没有静默过告警。' },
  { path: 'heartbeats', en: 'There are no heartbeats.', zh: '没有心跳。' },
] as const

test('empty lists say so, in both languages', async (t) => {
  const page = await world.open(t, 'alerts')
  for (const { path, en, zh } of EMPTY) {
    await page.goto(`${world.platform.url}/console/${path}`)
    await page.getByText(en).waitFor()
    await page.getByLabel('Language').selectOption('zh')
    await page.getByText(zh).waitFor()
    await assertLooks(page, `${path}-empty-zh`)
    await page.getByLabel('语言').selectOption('en')
  }
})

test('an alert is acknowledged with a comment, which is in its history', async (t) => {
  const id = await reportAlert('The shop is slow', { alarm_id: 'shop.slow', body: 'p99 is 4 s' })
  const page = await world.open(t, `alerts/${id}`)
  const shown = drawer(page, 'The shop is slow')
  await shown.getByRole('button', { name: 'Acknowledge' }).click()
  const dialog = page.getByRole('dialog', { name: 'Acknowledge' })
  await dialog.getByText('held back for 4 hours, or until it becomes more severe').waitFor()
  await dialog.getByLabel('Comment').fill('looking at it')
  await assertLooks(page, 'alerts-acknowledge')
  await dialog.getByLabel('Comment').focus()
  await page.keyboard.press('Control+Enter')
  await toast(page, 'The alert is acknowledged.').waitFor()
  await shown.getByText('looking at it').waitFor()
  await shown.getByText('No chat robot is set up').waitFor()
  await shown.getByText('Raised: nobody was notified').waitFor()
  await assertLooks(page, 'alerts-drawer')
  assert.equal(await shown.getByRole('button', { name: 'Acknowledge' }).count(), 0)
})

test('an alert is silenced in two clicks, and the silence is ended', async (t) => {
  const id = await reportAlert('The disk is full', { alarm_id: 'disk.full', server_addr: '192.0.2.7' })
  const page = await world.open(t, `alerts/${id}`)
  await drawer(page, 'The disk is full').getByRole('button', { name: 'Silence' }).click()
  const dialog = page.getByRole('dialog', { name: 'New silence' })
  assert.equal(await dialog.getByLabel('Reason').inputValue(), 'Known, is being worked on')
  assert.equal(await dialog.getByLabel('Server').inputValue(), '192.0.2.7')
  await dialog.getByText(/^It matches 1 of the \d+ alerts that have not recovered\.$/).waitFor()
  await dialog.getByLabel('Server').fill('192.0.2.8')
  await dialog.getByText(/^It matches 0 of the /).waitFor()
  await dialog.getByLabel('Server').fill('192.0.2.*')
  await dialog.getByText(/^It matches 1 of the /).waitFor()
  const end = dialog.getByLabel(/^Until[^:]*$/)
  const inTwoHours = await end.inputValue()
  await dialog.getByRole('button', { name: '8 hours' }).click()
  assert.equal(Date.parse(await end.inputValue()) - Date.parse(inTwoHours), 6 * 3_600_000)
  await dialog.getByLabel('Reason').fill('planned work')
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await toast(page, 'The silence is created.').waitFor()
  const until = { name: /^Silenced until (\d\d:\d\d|\d+ \w+) · you$/ }
  await drawer(page, 'The disk is full').getByRole('link', until).waitFor()
  await assertLooks(page, 'alerts-silenced')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('row').filter({ hasText: 'The disk is full' }).getByRole('link', until).click()
  const silence = drawer(page, 'planned work')
  await silence.getByText('Active').waitFor()
  await assertLooks(page, 'silences-drawer')
  await silence.getByRole('button', { name: 'End now' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End now' }).click()
  await toast(page, 'The silence has ended.').waitFor()
  await silence.getByText(/ by you$/).waitFor()
  await silence.getByText('Planned until').waitFor()
  await page.getByText('No silence matches the filters.').waitFor()
})

test('the week of the silences has the windows of one that repeats, and leads to it', async (t) => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const repeat = { days, from: '02:00', to: '06:00', time_zone: 'UTC' }
  const body = { matchers: { source: 'nightly' }, reason: 'each night', repeat }
  assert.equal((await world.platform.call('POST', '/alerts/silences', { body })).status, 201)
  const page = await world.open(t, 'silences')
  const week = page.getByRole('region', { name: 'Silences of the week' })
  await week.getByRole('button', { name: 'The week after' }).click()
  const line = week.getByRole('listitem').filter({ hasText: 'each night' })
  await line.waitFor()
  assert.ok((await line.locator('.silence-window').count()) >= 7)
  await assertLooks(page, 'silences-week')
  await line.getByRole('link', { name: 'each night' }).click()
  await drawer(page, 'each night').getByText('Next windows').waitFor()
})

test('a browser whose clock is hours off silences for two hours of the platform, and warns of no end', async (t) => {
  for (const hours of [-8, 8]) {
    const title = `Seen ${hours} hours off`
    await world.platform.call('POST', '/alerts/report', { body: { source: 'clock', title, level: 'HIGH' } })
    const page = await world.open(t, 'alerts')
    await page.clock.setFixedTime(Date.now() + hours * 3_600_000)
    await page.reload()
    await page.getByRole('link', { name: title }).click()
    assert.equal(await page.getByText('Your session ends at').count(), 0)
    await drawer(page, title).getByRole('button', { name: 'Silence' }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill(title)
    await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click()
    await toast(page, 'The silence is created.').waitFor()
  }
  const answer = await world.platform.call('GET', '/alerts/silences')
  type Answer = { readonly items: { readonly reason: string; starts_at: string; ends_at: string }[] }
  const { items } = (await answer.json()) as Answer
  const hoursOf = ({ starts_at, ends_at }: Answer['items'][number]) =>
    Math.round((Date.parse(ends_at) - Date.parse(starts_at)) / 3_600_000)
  assert.deepEqual(items.filter(({ reason }) => reason.endsWith('hours off')).map(hoursOf), [2, 2])
})

test('the reason why an alert was not sent leads to the alert that inhibits it', async (t) => {
  const other = await reportAlert('The pool is empty', { alarm_id: 'pool.full.critical' })
  const id = await reportAlert('The pool is nearly empty', { alarm_id: 'pool.full' })
  const page = await world.open(t, 'alerts')
  // This platform has no robot, which is its reason for every alert.
  await page.route(`**/alerts/${id}/decisions*`, async (route) => {
    const decision = { id: '1', at: new Date().toISOString(), occasion: 'raised', channel: 'robot' }
    const cause = { code: 'inhibited', values: { alert: other, alarm_id: 'pool.full.critical' } }
    const items = [{ ...decision, outcome: 'inhibited', reason: 'reworded', cause }]
    await route.fulfill({ json: { items, next_cursor: null } })
  })
  await page.getByRole('link', { name: 'The pool is nearly empty' }).click()
  const list = page.getByRole('list', { name: 'What has happened' })
  await list.getByRole('link').click()
  await drawer(page, 'The pool is empty').waitFor()
})

test('the reason why an alert was not sent leads to its silence; one that is gone is named', async (t) => {
  const ends_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { matchers: { source: 'shop.quiet' }, reason: 'a quiet night', ends_at }
  const created = await world.platform.call('POST', '/alerts/silences', { body })
  const silence = (await created.json()) as { id: string }
  const id = await reportAlert('The night is loud', { source: 'shop.quiet', alarm_id: 'night' })
  const page = await world.open(t, 'alerts', { role: 'devops' })
  await page.route(`**/alerts/${id}/decisions*`, async (route) => {
    const decision = { id: '1', at: new Date().toISOString(), occasion: 'raised', channel: 'robot' }
    const cause = { code: 'silenced', values: { silence: silence.id, reason: 'a quiet night' } }
    await route.fulfill({
      json: { items: [{ ...decision, outcome: 'silenced', reason: 'reworded', cause }], next_cursor: null },
    })
  })
  await page.getByRole('link', { name: 'The night is loud' }).click()
  const alert = drawer(page, 'The night is loud')
  await alert.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('held back until the acknowledgement lapses').waitFor()
  await page.keyboard.press('Escape')
  await assertLooks(page, 'alerts-silenced-by')
  await page.getByRole('list', { name: 'What has happened' }).getByRole('link').click()
  await drawer(page, 'a quiet night').getByText('Active').waitFor()
  await page.goto(`${world.platform.url}/console/silences/01900000-0000-7000-8000-000000000000`)
  await page.getByText('There is no silence').first().waitFor()
})

test('the reasons are in the language of the reader; one of a robot is shown as it is', async (t) => {
  const REASONS = [
    ['disabled', { code: 'no_robot', values: {} }, '未配置聊天机器人'],
    [
      'below_level',
      { code: 'below_level', values: { severity: 'INFO', least: 'WARNING' } },
      '“信息”低于“警告”',
    ],
    ['frozen', { code: 'never_pushed', values: { because: 'frozen' } }, '从未发送过此告警。 告警已被冻结'],
    [
      'bundled',
      { code: 'bundled', values: { message: 'm-1', others: 4 } },
      '与另外 4 条合并在消息 m-1 中发送。',
    ],
    [
      'bundled',
      { code: 'bundled', values: { message: 'm-2', others: 1 } },
      '与另外 1 条合并在消息 m-2 中发送。',
    ],
    ['failed', null, 'Attempt 2 has failed: <b>503</b>'],
  ] as const
  const id = await reportAlert('Nobody was notified', { alarm_id: 'nobody' })
  const page = await world.open(t, 'alerts', { language: 'zh' })
  await page.route(`**/alerts/${id}/decisions*`, async (route) => {
    const decision = { at: new Date().toISOString(), occasion: 'raised', channel: 'robot' }
    const items = REASONS.map(([outcome, cause, words], index) => ({
      ...decision,
      id: `${index}`,
      outcome,
      // What the platform's own sentences are is of no importance.
      reason: cause ? 'reworded' : words,
      cause,
    }))
    await route.fulfill({ json: { items, next_cursor: null } })
  })
  await page.getByRole('link', { name: 'Nobody was notified' }).click()
  const list = page.getByRole('list', { name: '发生的事情' })
  await list.getByText(REASONS[0][2]).waitFor()
  await page.getByText('另有 1 条').click()
  for (const [, , words] of REASONS) await list.getByText(words).waitFor()
})

test('beside an alert the list still shows the status of each, up to the width of a phone', async (t) => {
  const id = await reportAlert('Look at the list', { alarm_id: 'columns', level: 'CRITICAL' })
  const page = await world.open(t, `alerts/${id}`)
  const status = () =>
    page
      .getByRole('row', { name: /Look at the list/ })
      .getByText('Firing')
      .filter({ visible: true })
  await status().waitFor()
  await assertLooks(page, 'alerts-beside')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('rowheader', { name: /Look at the list Status Firing/ }).waitFor()
  await status().waitFor()
  await assertLooks(page, 'alerts-list')
})

test('an alert is found by a part of its title or of its alarm id', async (t) => {
  await reportAlert('The freezer is warm', { alarm_id: 'shop.freezer.7' })
  await reportAlert('The oven is cold', { alarm_id: 'shop.oven.7' })
  const page = await world.open(t, 'alerts')
  await page.getByText('The oven is cold').waitFor()
  for (const text of ['FREEZER is', 'freezer.7']) {
    await page.keyboard.press('/')
    await page.keyboard.press('Control+a')
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
    await page.getByText('The oven is cold').waitFor({ state: 'detached' })
    await page.getByText('The freezer is warm').waitFor()
    await page.getByRole('searchbox').blur()
  }
  assert.equal(new URL(page.url()).searchParams.get('text'), 'freezer.7')
})

test('an alert about an order leads to it', async (t) => {
  const order = { order_id: 'not-paid-1', platform: 'live', amount_cents: 4_990 }
  await world.platform.call('POST', '/orders', { body: order })
  const id = await reportAlert('An order was not paid', { alarm_id: 'order.timeout:not-paid-1' })
  const page = await world.open(t, `alerts/${id}`)
  const alert = drawer(page, 'An order was not paid')
  await alert.getByRole('link', { name: 'order.timeout:not-paid-1' }).waitFor()
  await alert.getByRole('link', { name: 'Order \u2068not-paid-1\u2069' }).click()
  await drawer(page, 'not-paid-1').getByText('49.90').waitFor()
})

test('several alerts are acknowledged and recovered together, and a severity is shown with one click', async (t) => {
  const titles = ['The first of several', 'The second of several', HOSTILE]
  for (const [index, title] of titles.entries())
    await reportAlert(title, { source: 'shop.several', alarm_id: `several.${index}`, level: 'ERROR' })
  const page = await world.open(t, 'alerts?source=shop.several')
  await page.getByRole('navigation', { name: 'Severity' }).getByRole('link', { name: 'Error' }).click()
  await page.waitForURL('**/alerts?source=shop.several&level=ERROR')
  await page.getByRole('checkbox', { name: 'The first of several' }).check()
  await assertLooks(page, 'alerts-selected')
  await page.getByRole('checkbox', { name: 'Select the whole page' }).check()
  const bar = page.getByRole('group', { name: '3 selected' })
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  const question = page.getByRole('alertdialog', { name: 'Acknowledge 3 firing alerts?' })
  await question.getByRole('button', { name: 'Acknowledge' }).click()
  await toast(page, 'Alerts acknowledged: 3.').waitFor()
  await bar.waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: 'Select the whole page' }).and(page.locator(':focus')).waitFor()
  const row = page.getByRole('row', { name: /The second of several/ })
  await row.getByText('Acknowledged').filter({ visible: true }).waitFor()
  await page.getByRole('checkbox', { name: 'The second of several' }).check()
  await page.getByRole('button', { name: 'Declare recovered' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Acknowledge' }).count(), 0)
  await page.getByRole('button', { name: 'Declare recovered' }).click()
  // As on the page of the alert, one asks nothing.
  await toast(page, 'Alerts recovered: 1.').waitFor()
  await row.waitFor({ state: 'detached' })
  const auditor = await world.open(t, 'alerts', { role: 'auditor' })
  await auditor.getByRole('row', { name: /The first of several/ }).waitFor()
  assert.equal(await auditor.getByRole('checkbox').count(), 0)
})

test('the most severe alerts are first, many of one source are a line, and a selection is silenced together', async (t) => {
  const order = (id: number) => ({ source: 'orders', alarm_id: `order.late:${id}`, level: 'WARNING' })
  for (let id = 1; id <= 12; id++) await reportAlert(`Order ${id} is late`, order(id))
  await reportAlert('The database is gone', { level: 'CRITICAL' })
  const page = await world.open(t, 'alerts')
  const rows = page.getByRole('table').getByRole('row')
  const group = page.getByRole('button', { name: /^Warning 12 alerts orders Order 12 is late$/ })
  await group.waitFor()
  assert.match((await rows.nth(1).textContent()) ?? '', /The database is gone|Look at the list/)
  assert.equal(await page.getByRole('link', { name: 'Order 3 is late' }).count(), 0)
  await assertLooks(page, 'alerts-folded')
  await page.emulateMedia({ media: 'print' })
  await group.waitFor()
  await page.getByRole('columnheader', { name: 'Severity' }).getByRole('button').waitFor()
  await page.emulateMedia({ media: 'screen' })
  await group.press('Enter')
  for (const id of [3, 4]) await page.getByRole('checkbox', { name: `Order ${id} is late` }).check()
  await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Silence' }).click()
  const dialog = page.getByRole('dialog', { name: 'New silence' })
  assert.equal(await dialog.getByLabel('Alarm id').inputValue(), 'order.late:*')
  await dialog.getByText(/^It matches 12 of the /).waitFor()
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await toast(page, 'The silence is created.').waitFor()
  await page
    .getByRole('row', { name: /Order 3 is late/ })
    .getByRole('link', { name: /^Silenced until / })
    .waitFor()
  await page.getByRole('link', { name: 'Order 12 is late' }).waitFor()
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0)
  await assertLooks(page, 'alerts-unfolded')
})

test('alerts of two sources are silenced by a silence each, and several silences are ended together', async (t) => {
  for (const source of ['shop.left', 'shop.right'])
    await reportAlert(`From ${source}`, { source, alarm_id: `from.${source}` })
  const page = await world.open(t, 'alerts')
  for (const source of ['shop.left', 'shop.right'])
    await page.getByRole('checkbox', { name: `From ${source}` }).check()
  const bar = page.getByRole('group', { name: '2 selected' })
  await bar.getByRole('button', { name: 'Silence' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Silence' }).click()
  await toast(page, 'Silences created: 2.').waitFor()
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0)
  await page.goto(`${world.platform.url}/console/silences?state=active`)
  const rows = page.getByRole('row').filter({ hasText: /shop[.](left|right)/ })
  await rows.nth(1).waitFor()
  for (const index of [0, 1]) await rows.nth(index).getByRole('checkbox').check()
  await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'End now' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End now' }).click()
  await rows.first().waitFor({ state: 'detached' })
})

test('of several alerts those that are refused stay chosen and are named; a double click does nothing else', async (t) => {
  for (const name of ['one', 'two', 'three'])
    await reportAlert(`Partly ${name}`, { source: 'shop.partly', alarm_id: `partly.${name}` })
  const page = await world.open(t, 'alerts?source=shop.partly')
  await page.getByText('Partly three').waitFor()
  let calls = 0
  await page.route('**/alerts/*/recover', async (route) => {
    calls += 1
    const body = JSON.stringify({ code: 'store_unavailable', message: 'The database is busy.' })
    return calls === 2 ? route.fulfill({ status: 503, body }) : route.continue()
  })
  await page.getByRole('checkbox', { name: 'Partly one' }).check()
  await page.getByRole('checkbox', { name: 'Select the whole page' }).check()
  await page.getByRole('button', { name: 'Declare recovered' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Declare recovered' }).dblclick()
  await toast(page, 'Alerts recovered: 2. Refused: \u2068Partly two\u2069 (').waitFor()
  await page
    .getByRole('group', { name: '1 selected' })
    .getByRole('listitem')
    .getByText('Partly two')
    .waitFor()
  assert.ok(await page.getByRole('checkbox', { name: 'Partly two' }).isChecked())
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 1)
  assert.equal(new URL(page.url()).pathname, '/console/alerts')
})

test('without live events, the list beside an alert shows its change', async (t) => {
  const id = await reportAlert('The events are late', { alarm_id: 'late' })
  const page = await world.open(t, 'overview')
  // Never answered.
  await page.route('**/events*', () => {})
  await page.goto(`${world.platform.url}/console/alerts/${id}`)
  await drawer(page, 'The events are late').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  const row = page.getByRole('row', { name: /The events are late/ })
  await row.getByText('Acknowledged').filter({ visible: true }).waitFor()
})

test('the form of a silence counts alerts behind the first page, and says when it has not read all', async (t) => {
  await reportAlert('An old alert', { source: 'shop.old', alarm_id: 'old.1' })
  const page = await world.open(t, 'silences')
  let pages = 0
  // As if the first page had newer alerts only.
  await page.route('**/alerts?status=firing&limit=1000', (route) =>
    route.fulfill({ json: { items: [], next_cursor: 'more' } }),
  )
  await page.route('**/alerts?cursor=more&*', async (route) => {
    pages += 1
    const answer = await world.platform.call('GET', '/alerts?source=shop.old')
    await route.fulfill({ json: { ...((await answer.json()) as object), next_cursor: 'more' } })
  })
  await page.getByRole('button', { name: 'New silence' }).click()
  const dialog = page.getByRole('dialog', { name: 'New silence' })
  await dialog.getByLabel('Alarm id').fill('old.1')
  await dialog.getByText(/^It matches at least 4 of the more than \d+ alerts/).waitFor()
  assert.equal(pages, 4)
})

test('a silence without any matcher says what it needs', async (t) => {
  const page = await world.open(t, 'silences')
  await page.getByRole('button', { name: 'New silence' }).click()
  const dialog = page.getByRole('dialog', { name: 'New silence' })
  await dialog.getByLabel('Reason').fill('planned work')
  await dialog.getByRole('button', { name: '1 hour' }).click()
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await dialog.locator('.fault').getByText('Fill in at least one of these fields.').waitFor()
  await dialog.getByLabel('Source').fill('shop.web')
  const from = dialog.getByLabel('From time')
  assert.equal(await from.isVisible(), false, 'most silences do not repeat')
  await dialog.getByText('Repeats', { exact: true }).click()
  await from.fill('25:00')
  await dialog.getByText('Repeats', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await dialog.locator('.form-fold .fault').first().waitFor()
})

test('a frozen alert is unfrozen', async (t) => {
  const report = { alarm_id: 'swings', title: 'It swings' }
  const id = await reportAlert('It swings', { ...report, level: 'CRITICAL' })
  for (const level of ['CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL']) {
    const body = { source: 'shop.web', ...report, level }
    await world.platform.call('POST', '/alerts/report', { body })
  }
  const page = await world.open(t, `alerts/${id}`)
  await drawer(page, 'It swings').getByRole('button', { name: 'Unfreeze' }).click()
  await toast(page, 'not frozen any more').waitFor()
  await drawer(page, 'It swings').getByRole('button', { name: 'Acknowledge' }).waitFor()
})

test('a heartbeat gets a beat and is deleted, by keyboard alone', async (t) => {
  await world.platform.call('PUT', '/alerts/heartbeats/nightly', { body: { every_seconds: 86_400 } })
  const page = await world.open(t, 'heartbeats')
  await page.getByRole('link', { name: 'nightly' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await drawer(page, 'nightly').getByRole('button', { name: 'Send a beat' }).press('Enter')
  await page.getByRole('alertdialog').getByText('No job has run.').waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send a beat' }).press('Enter')
  await toast(page, 'The beat is recorded.').waitFor()
  await assertLooks(page, 'heartbeats-drawer')
  await drawer(page, 'nightly').getByRole('button', { name: 'Delete', disabled: false }).press('Enter')
  await page.getByRole('alertdialog').locator(':focus').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('There are no heartbeats.').waitFor()
})

test('a heartbeat is created with periods as people write them, and edited', async (t) => {
  const page = await world.open(t, 'heartbeats')
  await page.getByRole('button', { name: 'New heartbeat' }).waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('h')
  const dialog = page.getByRole('dialog', { name: 'New heartbeat' })
  await dialog.getByLabel('Name').fill('two words')
  await dialog.getByLabel(/^Every[^:]*$/).fill('10s')
  await dialog.getByRole('button', { name: 'Create the heartbeat' }).click()
  await dialog.getByText('1 to 64 letters, digits or . _ - are needed.').waitFor()
  await dialog.getByText('It must be from 30 seconds to 31 days.').waitFor()
  await assertLooks(page, 'heartbeats-form')
  await dialog.getByLabel('Name').fill('hourly')
  await dialog.getByLabel(/^Every[^:]*$/).fill('often')
  await dialog.getByRole('button', { name: 'Create the heartbeat' }).click()
  await dialog.getByText('Enter a number with a unit').waitFor()
  await dialog.getByRole('button', { name: '1h' }).first().click()
  await dialog.getByRole('button', { name: 'Create the heartbeat' }).click()
  await toast(page, 'The heartbeat hourly expects a beat every 1 hour.').waitFor()
  const address = page.getByRole('dialog', { name: 'The address for pings' })
  await assertLooks(page, 'heartbeats-address')
  const url = await address.getByLabel('The address for pings').textContent()
  assert.ok(url?.startsWith(`${world.platform.url}/ping/`))
  await address.getByText(`0 2 * * * /path/to/job; curl -fsS -m 10 --retry 5 ${url}/$?`).waitFor()
  await address.getByRole('button', { name: 'I have copied it' }).click()
  const shown = drawer(page, 'hourly')
  await shown.getByText('Next beat due (grace included)').waitFor()
  await shown.getByText('There were no pings yet.').waitFor()
  await shown.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit the heartbeat hourly' })
  assert.equal(await edit.getByLabel(/^Every[^:]*$/).inputValue(), '1h')
  await edit.getByLabel(/^Grace[^:]*$/).fill('10 minutes')
  await edit.getByLabel('Severity').selectOption('Critical')
  await edit.getByRole('button', { name: 'Save' }).click()
  await shown.getByText('10 minutes', { exact: true }).waitFor()
  await shown.getByText('Critical', { exact: true }).waitFor()
  for (const [signal, body] of [['start'], ['3', 'The disk is full.'], ['start'], ['0']] as const)
    await fetch(`${url}/${signal}`, { method: 'POST', body: body ?? null })
  await page.reload()
  await shown.getByText('The disk is full.').waitFor()
  await assertLooks(page, 'heartbeats-pings')
  await page.getByRole('button', { name: 'New heartbeat' }).click()
  await dialog.getByLabel('Name').fill('hourly')
  await dialog.getByRole('button', { name: 'Create the heartbeat' }).click()
  await dialog.getByText('There is a heartbeat with this name.').waitFor()
})

test('two browsers see each other’s change, and a role sees only what it may do', async (t) => {
  const id = await reportAlert('The queue grows', { alarm_id: 'queue' })
  const auditor = await world.open(t, `alerts/${id}`, { role: 'auditor' })
  await auditor.getByText('Live', { exact: true }).waitFor()
  const shown = drawer(auditor, 'The queue grows')
  await shown.getByText('Firing').first().waitFor()
  assert.equal(await shown.getByRole('button', { name: /Acknowledge|Silence|recovered/ }).count(), 0)
  const admin = await world.open(t, `alerts/${id}`)
  await drawer(admin, 'The queue grows').getByRole('button', { name: 'Declare recovered' }).click()
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Declare recovered' }).click()
  await shown.getByText('Recovered').first().waitFor()
})

test('a dialog closes when the alert does not allow it after the change of another person', async (t) => {
  const id = await reportAlert('It ends meanwhile', { alarm_id: 'ends' })
  const page = await world.open(t, `alerts/${id}`)
  await drawer(page, 'It ends meanwhile').getByRole('button', { name: 'Acknowledge' }).click()
  await world.platform.call('POST', `/alerts/${id}/recover`)
  const dialog = page.getByRole('dialog', { name: 'Acknowledge' })
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('A recovered alert cannot be acknowledged').waitFor()
  assert.equal(await dialog.count(), 0)
})

test('hostile text in every field is shown as text', async (t) => {
  const long = 'long '.repeat(3_000)
  const id = await reportAlert(HOSTILE, {
    source: HOSTILE,
    body: HOSTILE + long,
    server_addr: HOSTILE,
    alarm_id: HOSTILE,
  })
  const page = await world.open(t, `alerts/${id}`)
  await drawer(page, HOSTILE.slice(0, 30)).getByText(HOSTILE.slice(0, 40)).first().waitFor()
  await assertLooks(page, 'alerts-hostile')
})

test('an alert that cannot be read is described', async (t) => {
  const page = await world.open(t, 'alerts/unknown')
  await drawer(page, 'unknown').getByRole('alert').waitFor()
  await assertLooks(page, 'alerts-failed')
})
