import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertLook,
  assertLooks,
  connectVpn,
  consoleWorld,
  filterBy,
  HOSTILE,
  PASSWORD,
  SHOWN_HOSTILE,
} from './console-world.ts'

const world = consoleWorld()

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

async function post(path: string, body: object): Promise<void> {
  const answer = await world.platform.call('POST', path, { body })
  assert.ok(answer.ok, `POST ${path}: ${answer.status} ${await answer.text()}`)
}

const sendTelemetry = (agent_id: string, data: object) => post('/api/v1/telemetry', { agent_id, data })

const PAGES = [
  { name: 'messages', key: 'm', path: '/messages?*', en: 'There are no messages yet.', zh: '还没有消息。' },
  { name: 'vpn-sessions', key: 'v', path: '/vpn/sessions?*', en: 'Nobody is connected', zh: '目前没有连接' },
  { name: 'vpn-audit', key: 'i', path: '/vpn/audit?*', en: 'No session was opened', zh: '还没有建立' },
  { name: 'telemetry', key: 'e', path: '/telemetry/agents?*', en: 'No agent has sent', zh: '还没有代理' },
] as const

test('the start page is the overview, and empty pages say so in both languages', async (t) => {
  const page = await world.open(t, '')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  for (const { key, en, zh } of PAGES) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.getByText(en).waitFor()
    await page.getByLabel('Language').selectOption('zh')
    await page.getByText(zh).waitFor()
    await page.getByLabel('语言').selectOption('en')
  }
  await assertLooks(page, 'telemetry-empty')
})

test('the overview shows the state of the parts, and follows the changes', async (t) => {
  await post('/orders', { order_id: 'seen-1', platform: 'shop', amount_cents: 4_990 })
  await post('/alerts/report', { source: 'shop.web', title: 'The shop is slow', level: 'HIGH' })
  await post('/tickets', { title: 'The shop does not answer', level: 'critical' })
  const page = await world.open(t, 'overview')
  const parts = page.getByRole('list', { name: 'State of the parts' })
  await parts.getByRole('link', { name: '1 critical' }).waitFor()
  await parts.getByRole('link', { name: '1 high' }).waitFor()
  await parts.getByText(/^the bus is offline · the oldest: /).waitFor()
  await page.getByText(/cannot be reached: ECONNREFUSED; events wait/).waitFor()
  await page.getByText(/^Not known yet: \d$/).click()
  await page.getByText('"platform backup install" sets it up').waitFor()
  await page.getByRole('row', { name: /^Pending 1 1/ }).waitFor()
  const chart = page.getByRole('slider', { name: 'Orders over time' })
  await chart.press('End')
  assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /^\d\d:\d\d: Pending (1|–), Paid /)
  await page.getByText('Live', { exact: true }).waitFor()
  await post('/orders', { order_id: 'seen-2', platform: 'shop', amount_cents: 100 })
  await page.getByRole('row', { name: /^Pending 2 2/ }).waitFor()
  await page.getByRole('link', { name: '7 days' }).click()
  assert.equal(new URL(page.url()).search, '?hours=168')
  await assertLooks(page, 'overview')
  await parts.getByRole('link', { name: 'Firing alerts' }).click()
  await page.getByRole('link', { name: 'The shop is slow' }).waitFor()
  assert.equal(new URL(page.url()).search, '?status=firing')
  await page.goBack()
  await parts.getByRole('link', { name: 'Awaiting approval' }).click()
  await page.waitForURL('**/executions?status=awaiting_approval')
})

/** What the API answers for the overview, with other parts. */
async function overviewWith(page: Page, parts: (now: number) => object): Promise<void> {
  await page.route('**/overview', async (route) => {
    const answer = await route.fetch()
    const overview = (await answer.json()) as { readonly at: string }
    await route.fulfill({ json: { ...overview, ...parts(Date.parse(overview.at)) } })
  })
}

const DAY_MS = 86_400_000

test('an old backup is to be checked, and the overview says what to do first', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await overviewWith(page, (now) => {
    const finished_at = new Date(now - 60 * DAY_MS).toISOString()
    const times = { created_at: finished_at, finished_at, verified_at: finished_at }
    const last = { id: 'a', status: 'completed', size_bytes: 1, error: null, ...times }
    const alerts = { CRITICAL: 0, HIGH: 0, ERROR: 0, WARNING: 0, INFO: 0 }
    const messages = { pending: 0, oldest_pending_at: null, dead: 0, oldest_dead_at: null }
    const others = { alerts, messages, night: null, tickets: null }
    return { data_backups: { last, backup_every_seconds: null }, ...others }
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  const parts = page.getByRole('list', { name: 'State of the parts' })
  const card = parts.getByRole('listitem').filter({ hasText: 'Data backup' })
  await card.getByText('60 days ago · No automatic backup is set (data.backup_every).').waitFor()
  await card.getByText('Check').waitFor()
  await page.getByText('No receiver is set up, so nobody is notified of alerts.').waitFor()
  await page.getByRole('link', { name: 'See to the data backup' }).click()
  await page.waitForURL('**/data-backups')
})

test('a tab from before an upgrade loads the new console with the page that it cannot open', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByText('Live', { exact: true }).waitFor()
  let isNew = false
  await page.route('**/console/assets/*.js', (route) =>
    isNew ? route.continue() : route.fulfill({ status: 404 }),
  )
  await page.route('**/console/', (route) => route.fulfill({ body: 'the start of another console' }))
  await page.route('**/console/certificates', async (route) => {
    isNew = true
    await route.continue()
  })
  await page.getByRole('link', { name: 'Certificates', exact: true }).click()
  await page.getByText('No certificate is registered.').waitFor()
})

test('the overview says that the bus went away, also when nothing else happens', async (t) => {
  const page = await world.open(t, 'orders')
  let bus = 'ok'
  await page.route('**/health', async (route) => {
    const answer = await route.fetch()
    const health = (await answer.json()) as { checks: object }
    await route.fulfill({ json: { ...health, checks: { ...health.checks, bus } } })
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Waiting messages' }).waitFor()
  const found = page.getByRole('listitem').filter({ hasText: 'nats://127.0.0.1:1' })
  assert.equal(await found.count(), 0)
  bus = 'offline'
  // It looks every 15 seconds.
  await page.clock.install()
  await page.clock.fastForward(16_000)
  await found.waitFor()
  assert.equal(await page.getByText('The message bus is offline.').count(), 0)
})

test('alerts that are acknowledged are still counted, and the most severe one comes first', async (t) => {
  await post('/alerts/report', { source: 'shop.db', title: 'The database is slow', level: 'CRITICAL' })
  await post('/alerts/report', { source: 'shop.api', title: HOSTILE, level: 'CRITICAL' })
  const found = await world.platform.call('GET', '/alerts?level=CRITICAL')
  const { items } = (await found.json()) as { items: { id: string; title: string }[] }
  const slow = items.find(({ title }) => title === 'The database is slow')
  await post(`/alerts/${slow?.id}/acknowledge`, {})
  const page = await world.open(t, 'overview')
  const card = page.getByRole('listitem').filter({ hasText: 'Firing alerts' })
  await card.getByText('1 critical', { exact: true }).waitFor()
  await page
    .getByRole('link', { name: /^See to the alert “/ })
    .getByText('<script>')
    .waitFor()
  await assertLooks(page, 'overview-first')
  await card.getByRole('link', { name: '1 critical, acknowledged' }).click()
  await page.waitForURL('**/alerts?status=acknowledged&level=CRITICAL')
  await row(page, 'The database is slow').waitFor()
  await page.goBack()
  await page.getByRole('listitem').filter({ hasText: 'Unclosed tickets' }).getByText('1 critical').click()
  await page.waitForURL('**/tickets?status=unclosed&level=critical')
})

test('the first step is a most severe alert, also when many newer ones are less severe', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.route('**/alerts?status=firing&limit=200', async (route) => {
    const { items } = (await (await route.fetch()).json()) as { items: { severity: string }[] }
    const newest = items.filter(({ severity }) => severity !== 'CRITICAL')
    await route.fulfill({ json: { items: newest, next_cursor: 'more' } })
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page
    .getByRole('link', { name: /^See to the alert “/ })
    .getByText('<script>')
    .waitFor()
})

test('the overview shows no part of a list that the roles do not allow', async (t) => {
  const page = await world.open(t, 'overview', { role: 'auditor', language: 'zh' })
  await page.getByText('触发中的告警').waitFor()
  assert.equal(await page.getByRole('heading', { name: '各状态的订单' }).count(), 0)
  await assertLooks(page, 'overview-zh')
})

test('a message shows its payload as text, and a dead one is sent again', async (t) => {
  await post('/messages/publish', { subject: 'shop.opened', payload: { note: HOSTILE } })
  const page = await world.open(t, 'messages?subject=shop.opened')
  await page.getByText('The message bus is offline.').waitFor()
  // Without a bus no message dies.
  const answerAs = (status: string) => ({
    status,
    last_error: 'reworded',
    cause: { code: 'too_large', values: {} },
    attempts: 3,
  })
  let status = 'dead'
  await page.route(/\/messages\/[^/?]+(\/redrive)?$/, async (route) => {
    if (route.request().method() === 'POST') status = 'pending'
    const url = route.request().url().replace('/redrive', '')
    const answer = await route.fetch({ url, method: 'GET' })
    const message = (await answer.json()) as object
    await route.fulfill({ json: { ...message, ...answerAs(status) } })
  })
  await page.getByRole('link', { name: 'shop.opened' }).click()
  const shown = drawer(page, 'shop.opened')
  await shown.getByText('reworded').waitFor()
  await shown.getByText('The message is larger than the bus accepts.').waitFor()
  await shown.getByRole('region', { name: 'Payload' }).getByText('<script>alert(2)</script>').waitFor()
  await assertLooks(page, 'messages-drawer')
  await shown.getByRole('button', { name: 'Send again' }).click()
  await toast(page, 'The message waits for the bus again.').waitFor()
  await shown.getByText('Waiting').waitFor()
  status = 'dead'
  const listRead = page.waitForRequest(/\/messages\?/)
  await shown.getByText('Dead', { exact: true }).waitFor()
  await toast(page, 'The bus has refused the message again').waitFor()
  // The list has no event of it.
  await listRead
})

test('the audit trail shows who has changed what, as the page of the object does', async (t) => {
  const path = '/alerts/heartbeats/watched'
  const settings = { grace_seconds: 0, severity: 'HIGH', source: 'test' }
  for (const every_seconds of [60, 120])
    await world.platform.call('PUT', path, { user: 'mallory', body: { every_seconds, ...settings } })
  const page = await world.open(t, 'audit?target=heartbeat%3Awatched')
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
  const change = page.getByRole('row').filter({ hasText: 'mallory' }).first()
  await change.getByRole('link').click()
  await drawer(page, 'Create a heartbeat, or change its settings').getByText('60 → 120').waitFor()
  await assertLook(page, 'audit')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.getByRole('link', { name: 'watched' }).click()
  const changes = drawer(page, 'watched').getByRole('list', { name: 'Who changed this' })
  await changes.getByText('every_seconds: 60 → 120').waitFor()
})

test('a dead message and its alert lead to each other', async (t) => {
  await post('/messages/publish', { subject: 'shop.closed', payload: {} })
  const found = await world.platform.call('GET', '/messages?subject=shop.closed')
  const [{ id }] = ((await found.json()) as { items: [{ id: string }] }).items
  const title = 'A message on shop.closed cannot be delivered'
  await post('/alerts/report', {
    source: 'platform.messages',
    title,
    alarm_id: `message.dead:${id}`,
    level: 'ERROR',
  })
  const page = await world.open(t, 'messages?subject=shop.closed')
  await page.route(`**/messages/${id}`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...((await answer.json()) as object), status: 'dead' } })
  })
  await row(page, 'shop.closed').getByRole('link').click()
  await drawer(page, 'shop.closed').getByRole('link', { name: 'The alert about this message' }).click()
  await drawer(page, title)
    .getByRole('link', { name: /^Message / })
    .click()
  await drawer(page, 'shop.closed').waitFor()
})

test('the overview leads to the dead messages, and a name does not change the text beside it', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await overviewWith(page, () => {
    const messages = { pending: 0, oldest_pending_at: null, dead: 2, oldest_dead_at: null }
    const ending = { id: 'a', name: HOSTILE, not_after: '2026-01-31T02:00:00Z', days_left: 6 }
    const certificates = { expiring: 1, expired: 0, items: [ending] }
    const times = { started_at: null, succeeded_at: null, failed_at: '2026-01-31T02:00:00Z' }
    const night = { last: { status: 'failed', alert_id: 'the-alert', ...times } }
    return { messages, certificates, night }
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText(`\u2068${SHOWN_HOSTILE}\u2069: 6 days left`).waitFor()
  await page.getByText('2 dead').waitFor()
  await assertLooks(page, 'overview-dead')
  await page.getByRole('link', { name: 'Waiting messages' }).click()
  await page.waitForURL('**/messages?status=dead')
  await page.goBack()
  await page.getByRole('link', { name: 'Nightly backup', exact: true }).click()
  await page.waitForURL('**/alerts/the-alert')
})

test('a VPN session is disconnected, and the audit trail has it', async (t) => {
  const page = await world.open(t, 'vpn-sessions')
  await page.getByText('Live', { exact: true }).waitFor()
  await connectVpn(t, world.platform, 'vera', 'laptop')
  await row(page, 'vera').getByRole('cell', { name: 'laptop' }).waitFor()
  const picture = page.getByRole('link', { name: 'Picture of the tunnels' })
  assert.equal(await picture.getAttribute('href'), `${world.platform.gatewayUrl}/tunnels`)
  await page.getByRole('link', { name: 'vera' }).click()
  await assertLooks(page, 'vpn-sessions-drawer')
  await drawer(page, 'vera').getByRole('button', { name: 'Disconnect' }).click()
  await page.getByRole('alertdialog').getByText('stays off until it is started again').waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click()
  await toast(page, 'The session is disconnected.').waitFor()
  await page.waitForURL('**/vpn-sessions/*?state=closed')
  await drawer(page, 'vera').getByText('4403').waitFor()
  await row(page, 'vera').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await row(page, 'vera').getByText('Closed').waitFor()
  // The users are read once in a visit.
  await page.reload()
  await row(page, 'vera').first().waitFor()
  await filterBy(page, 'User', 'you')
  await page.getByText('No entry matches the filters.').waitFor()
  await filterBy(page, 'User', 'vera')
  await row(page, 'vera').filter({ hasText: 'Closed' }).getByRole('link').press('Enter')
  await drawer(page, 'vera').getByText('Disconnected by you').waitFor()
  await drawer(page, 'vera').getByText('laptop').waitFor()
  await assertLooks(page, 'vpn-audit-drawer')
})

test('a user is created with the faults at the fields', async (t) => {
  const page = await world.open(t, 'users')
  await row(page, 'the-admin').waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('u')
  const dialog = page.getByRole('dialog', { name: 'New user' })
  await dialog.getByLabel('Name').fill('boris')
  await dialog.getByLabel('Password').fill('short')
  await dialog.getByLabel('Auditor').press('Space')
  await page.keyboard.press('Enter')
  await dialog.locator('.fault').first().waitFor()
  await assertLooks(page, 'users-refused')
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Create the user' }).click()
  await toast(page, 'The user boris was created.').waitFor()
  await row(page, 'boris').waitFor()
  await drawer(page, 'boris').getByText('Auditor', { exact: true }).waitFor()
})

test('a user is found by a part of the name, also behind the first page of the API', async (t) => {
  await post('/users', { name: 'Grace.Hopper', password: PASSWORD, roles: ['devops'] })
  const page = await world.open(t, 'users')
  // The API answers one user at a time here.
  await page.route('**/users?*limit=1000*', async (route) => {
    await route.continue({ url: route.request().url().replace('limit=1000', 'limit=1') })
  })
  await row(page, 'the-admin').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('hopp')
  await page.keyboard.press('Enter')
  await row(page, 'the-admin').waitFor({ state: 'detached' })
  await row(page, 'Grace.Hopper').waitFor()
  await assertLooks(page, 'users-found')
  await page.getByRole('searchbox').fill('nobody has it')
  await page.keyboard.press('Enter')
  await page.getByText('No user matches the filters.').waitFor()
})

test('a user gets roles, is disabled, enabled and deleted', async (t) => {
  await post('/users', { name: 'clara', password: PASSWORD, roles: ['auditor'] })
  const page = await world.open(t, 'users')
  await page.getByRole('link', { name: 'clara' }).click()
  const shown = drawer(page, 'clara')
  await shown.getByRole('button', { name: 'Change the roles' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change the roles' })
  await dialog.getByLabel('Auditor').uncheck()
  await dialog.getByRole('button', { name: 'Change the roles' }).click()
  await dialog.locator('.fault').getByText('This field is required.').waitFor()
  await dialog.getByLabel('Auditor').check()
  await dialog.getByLabel('Operations').check()
  await dialog.getByRole('button', { name: 'Change the roles' }).click()
  await shown.getByText('Operations, Auditor').waitFor()
  await shown.getByRole('button', { name: 'Set a password' }).click()
  const form = page.getByRole('dialog', { name: 'Set a password' })
  await form.getByText('All sessions of clara end').waitFor()
  assert.equal(await form.getByLabel('Present password').count(), 0)
  await form.getByLabel(/^Password/).fill(`${PASSWORD} 2`)
  await form.getByLabel(/^The same again/).fill(PASSWORD)
  await form.getByRole('button', { name: 'Set a password' }).click()
  await form.getByText('It is not the same password.').waitFor()
  await assertLooks(page, 'users-password')
  await form.getByLabel(/^The same again/).fill(`${PASSWORD} 2`)
  await form.getByRole('button', { name: 'Set a password' }).click()
  await toast(page, 'The password is set.').waitFor()
  await shown.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click()
  await shown.getByText('Disabled', { exact: true }).waitFor()
  await assertLooks(page, 'users-drawer')
  await shown.getByRole('button', { name: 'Enable' }).click()
  await shown.getByText('Enabled', { exact: true }).waitFor()
  await shown.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await row(page, 'clara').waitFor({ state: 'detached' })
  await page.locator('.row-link:focus').waitFor()
})

test('a question about an object does not stay in front of another page', async (t) => {
  await post('/users', { name: 'dora', password: PASSWORD, roles: ['auditor'] })
  const page = await world.open(t, 'tickets')
  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByRole('link', { name: 'dora' }).click()
  await drawer(page, 'dora').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').waitFor()
  await page.goBack()
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await row(page, 'dora').waitFor()
})

test('an administrator cannot disable or delete the own account by a slip', async (t) => {
  const page = await world.open(t, 'users')
  await page.getByRole('link', { name: 'the-admin' }).click()
  const shown = drawer(page, 'the-admin')
  await shown.getByText('This is your account.').waitFor()
  assert.equal(await shown.getByRole('button', { name: /Disable|Delete/ }).count(), 0)
})

test('an agent shows its last values as text, and follows them', async (t) => {
  await sendTelemetry('press-7', { speed: 12, disk: { [HOSTILE]: HOSTILE } })
  const page = await world.open(t, 'telemetry')
  await page.getByRole('link', { name: 'press-7' }).click()
  const shown = drawer(page, 'press-7')
  await shown.getByText(`disk.${SHOWN_HOSTILE}`, { exact: true }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await assertLooks(page, 'telemetry-drawer')
  await sendTelemetry('press-7', { speed: 13 })
  await shown.getByText('13', { exact: true }).waitFor()
})

test('an agent that has sent nothing for an hour is marked as silent', async (t) => {
  await sendTelemetry('press-8', { speed: 1 })
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.route('**/api/v1/telemetry/agents?*', async (route) => {
    const answer = await route.fetch()
    const { items, ...rest } = (await answer.json()) as { items: { agent_id: string }[] }
    const last_at = new Date(Date.now() - 2 * 3_600_000).toISOString()
    const older = items.map((agent) => (agent.agent_id === 'press-8' ? { ...agent, last_at } : agent))
    await route.fulfill({ json: { ...rest, items: older } })
  })
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await row(page, 'press-8').getByText('Silent').waitFor()
  assert.equal(await row(page, 'press-7').getByText('Silent').count(), 0)
})

test('the menu of a phone says who is signed in', async (t) => {
  const page = await world.open(t, 'orders', { viewport: { width: 360, height: 740 } })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('dialog', { name: 'Menu' }).getByText('Signed in as the-admin').waitFor()
})

const REFUSED = [
  { role: 'devops', path: 'users', names: /^Users$/ },
  { role: 'service', path: 'vpn-audit', names: /^(Users|VPN sessions|VPN audit)$/ },
] as const

test('a page that the roles do not allow does not exist', async (t) => {
  for (const { role, path, names } of REFUSED) {
    const page = await world.open(t, path, { role })
    await page.getByText('There is no such page, or your roles do not allow it.').waitFor()
    assert.equal(await page.getByRole('link', { name: names }).count(), 0)
  }
})

test('a list that cannot be read is described, and read again', async (t) => {
  const page = await world.open(t, 'overview')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const json = { code: 'store_unavailable', message: 'The database is unavailable; retry.' }
  for (const { name, key, path } of PAGES) {
    await page.route(`**${path}`, (route) => route.fulfill({ status: 503, json }))
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.getByRole('alert').getByText('The database does not answer at the moment.').waitFor()
    await page.unroute(`**${path}`)
    await page.getByRole('button', { name: 'Try again' }).press('Enter')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.ok(page.url().endsWith(`/console/${name}`))
  }
})

const EMPTY = { status: 200, json: { items: [], next_cursor: null } }
const FAILED = {
  status: 503,
  json: { code: 'store_unavailable', message: 'The database is unavailable; retry.' },
}

/** The states of pages at which no other test looks. */
const STATES = [
  { title: 'Messages', key: 'm', path: '/messages?*', states: [EMPTY, FAILED] },
  { title: 'Silences', key: 's', path: '/alerts/silences?*', states: [FAILED] },
  { title: 'Heartbeats', key: 'h', path: '/alerts/heartbeats?*', states: [FAILED] },
  { title: 'Commands', key: 'c', path: '/commands?*', states: [EMPTY, FAILED] },
  { title: 'Executions', key: 'x', path: '/commands/executions?*', states: [EMPTY, FAILED] },
  { title: 'Menus', key: 'n', path: '/menus?*', states: [EMPTY, FAILED] },
  { title: 'Certificates', key: 'k', path: '/certificates?*', states: [EMPTY, FAILED] },
  { title: 'Data backups', key: 'b', path: '/data/backups?*', states: [EMPTY, FAILED] },
  { title: 'VPN sessions', key: 'v', path: '/vpn/sessions?*', states: [EMPTY, FAILED] },
  { title: 'VPN audit', key: 'i', path: '/vpn/audit?*', states: [EMPTY, FAILED] },
  { title: 'Audit', key: 'd', path: '/audit?*', states: [EMPTY, FAILED] },
  { title: 'Telemetry', key: 'e', path: '/api/v1/telemetry/agents?*', states: [FAILED] },
  { title: 'Users', key: 'u', path: '/users?*', states: [FAILED] },
  { title: 'Settings', key: ',', path: '/config', states: [FAILED] },
  { title: 'Overview', key: 'w', path: '/overview', states: [FAILED] },
] as const

test('axe finds nothing on a page that is empty or failed', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  for (const state of [EMPTY, FAILED]) {
    for (const { title, key, path } of STATES.filter(({ states }) => states.some((each) => each === state))) {
      await page.route(`${world.platform.url}${path}`, (route) => route.fulfill(state))
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.locator('.state-title').first().waitFor()
      await assertLook(page, `${title}-${state.status}`)
    }
    await page.unrouteAll()
  }
})
