import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertLooks, consoleWorld, filterBy, HOSTILE, PASSWORD } from './console-world.ts'

const world = consoleWorld()

async function createTicket(title: string, more: object = {}): Promise<string> {
  const body = { title, level: 'high', ...more }
  const answer = await world.platform.call('POST', '/tickets', { body })
  assert.equal(answer.status, 201)
  return ((await answer.json()) as { id: string }).id
}

const editTicket = (id: string, body: object) => world.platform.call('PUT', `/tickets/${id}`, { body })
const drawer = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
const column = (page: Page, status: string) => page.getByRole('region', { name: status, exact: true })

test('without a ticket the list says so, in both languages', async (t) => {
  const page = await world.open(t, 'tickets', { language: 'zh' })
  await page.getByText('还没有工单。').waitFor()
  await assertLooks(page, 'tickets-empty-zh')
  await page.getByLabel('语言').selectOption('en')
  await page.getByText('There are no tickets yet.').waitFor()
})

test('a ticket is created, taken, commented on and edited', async (t) => {
  const page = await world.open(t, 'tickets')
  await page.getByRole('button', { name: 'New ticket' }).click()
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByRole('button', { name: 'Create the ticket' }).click()
  await dialog.getByText('This field is required.').first().waitFor()
  await dialog.getByLabel('Title').fill('Printer is out of paper')
  await dialog.getByLabel('Level').selectOption('Low')
  await dialog.getByRole('button', { name: 'Create the ticket' }).click()
  const shown = drawer(page, 'Printer is out of paper')
  await shown.getByRole('button', { name: 'Close the ticket' }).waitFor()
  assert.equal(await shown.getByRole('button', { name: 'Close', exact: true }).count(), 1)
  await shown.getByRole('button', { name: 'Start' }).click()
  await shown.getByRole('button', { name: 'Put back' }).waitFor()
  await shown.getByRole('button', { name: 'Assign to me' }).click()
  await shown.getByRole('button', { name: 'Unassign' }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: '\u2068Printer is out of paper\u2069: assigned to you' })
    .waitFor()
  await shown.getByLabel('Comment').fill('Ordered paper')
  await shown.getByRole('button', { name: 'Comment' }).click()
  await shown.getByRole('list', { name: 'Comments' }).getByText('Ordered paper').waitFor()
  await shown.getByRole('list', { name: 'History' }).getByText('Created', { exact: true }).waitFor()
  await shown.getByRole('list', { name: 'History' }).getByText('Status: Open → In progress').waitFor()
  await assertLooks(page, 'tickets-drawer')
})

test('a ticket is found by a part of its title, and assigned when it is created', async (t) => {
  await createTicket('The scales are broken')
  await createTicket('A light is broken')
  const page = await world.open(t, 'tickets')
  await page.getByText('A light is broken').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('SCALES')
  await page.keyboard.press('Enter')
  await page.getByText('A light is broken').waitFor({ state: 'detached' })
  await page.getByText('The scales are broken').waitFor()
  await page.getByRole('button', { name: 'New ticket' }).click()
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByLabel('Title').fill('Buy new scales')
  await dialog.getByLabel('Level').selectOption('Low')
  await dialog.getByRole('combobox', { name: 'Assignee' }).selectOption('Me')
  await dialog.getByRole('button', { name: 'Create the ticket' }).click()
  await drawer(page, 'Buy new scales').getByRole('button', { name: 'Unassign' }).waitFor()
})

test('the board shows each status, and follows the changes of others', async (t) => {
  const id = await createTicket('The shop does not answer', { source: 'shop.web' })
  await createTicket('Renew the certificate', { level: 'medium' })
  const page = await world.open(t, 'tickets?view=board')
  await page.getByText('Live', { exact: true }).waitFor()
  await column(page, 'Open').getByText('The shop does not answer').waitFor()
  await editTicket(id, { status: 'resolved' })
  await column(page, 'Resolved').getByText('The shop does not answer').waitFor()
  await column(page, 'Open').getByText('The shop does not answer').waitFor({ state: 'detached' })
  const body = { name: 'carla', password: PASSWORD, roles: ['devops'] }
  const carla = (await (await world.platform.call('POST', '/users', { body })).json()) as { id: string }
  await editTicket(id, { assignee: carla.id })
  await column(page, 'Resolved').getByRole('listitem').filter({ hasText: 'Assignee carla' }).waitFor()
  await assertLooks(page, 'tickets-board')
})

test('a column of the board begins with the most urgent ticket and has a count, also beside an open ticket', async (t) => {
  const ids: string[] = []
  for (const level of ['info', 'critical', 'low', 'critical'])
    ids.push(await createTicket(`Of level ${level} ${ids.length}`, { level, source: 'levels' }))
  for (const id of ids) await editTicket(id, { status: 'in_progress' })
  const page = await world.open(t, `tickets/${ids[0]}?view=board`)
  const cards = column(page, 'In progress').getByRole('link').filter({ hasText: 'Of level' })
  await cards.nth(3).waitFor()
  assert.deepEqual(await cards.allTextContents(), [
    'Of level critical 3',
    'Of level critical 1',
    'Of level low 2',
    'Of level info 0',
  ])
  const count = await column(page, 'In progress').getByRole('listitem').count()
  await column(page, 'In progress').getByText(`Tickets ${count}`).waitFor()
  const tops = await Promise.all(
    ['Open', 'In progress', 'Resolved', 'Closed'].map((status) => column(page, status).boundingBox()),
  )
  assert.equal(new Set(tops.map((box) => box?.y)).size, 1)
  const pane = await page.locator('.list-pane').boundingBox()
  const last = tops.at(-1)
  assert.ok(pane && last && last.x + last.width <= pane.x + pane.width + 1)
  await assertLooks(page, 'tickets-board-beside')
  for (const id of ids) await editTicket(id, { status: 'closed' })
})

test('a column that has too many tickets for a page still begins with the most urgent one', async (t) => {
  const newest = [
    await createTicket('The shop is on fire', { level: 'critical' }),
    await createTicket('A lamp'),
  ]
  const page = await world.open(t, 'tickets')
  // As if only the lamp were among the newest tickets.
  await page.route('**/tickets?status=open&limit=200', async (route) => {
    const { items } = (await (await route.fetch()).json()) as { items: { id: string }[] }
    await route.fulfill({ json: { items: items.filter(({ id }) => id === newest[1]), next_cursor: 'more' } })
  })
  await page.getByRole('link', { name: 'Board' }).click()
  const open = column(page, 'Open')
  await open.getByText(/^Only the \d+ most urgent tickets are shown/).waitFor()
  assert.equal(await open.getByRole('link').first().textContent(), 'The shop is on fire')
  for (const id of newest) await editTicket(id, { status: 'closed' })
})

test('a ticket on the board is moved by keys alone, which keeps the focus and is announced', async (t) => {
  const id = await createTicket('Moved by keys')
  const page = await world.open(t, 'tickets?view=board')
  const card = (status: string) => column(page, status).getByRole('link', { name: 'Moved by keys' })
  await card('Open').focus()
  await page.keyboard.press('Alt+ArrowRight')
  await card('In progress').and(page.locator(':focus')).waitFor()
  await page.getByRole('status').filter({ hasText: '\u2068Moved by keys\u2069: In progress' }).waitFor()
  await page.keyboard.press('Alt+ArrowRight')
  await card('Resolved').and(page.locator(':focus')).waitFor()
  // From there a ticket goes back to open alone.
  await page.keyboard.press('Alt+ArrowLeft')
  await card('Open').and(page.locator(':focus')).waitFor()
  assert.equal(new URL(page.url()).search, '?view=board')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Move the ticket to another status').waitFor()
  await editTicket(id, { status: 'closed' })
})

test('the assignee of a ticket is chosen on its card, also back again', async (t) => {
  const body = { name: 'dora', password: PASSWORD, roles: ['devops'] }
  await world.platform.call('POST', '/users', { body })
  const id = await createTicket('Who takes \u202Eit?')
  const page = await world.open(t, 'tickets?view=board')
  const choice = column(page, 'Open')
    .getByRole('listitem')
    .filter({ hasText: 'Who takes [U+202E]it?' })
    .getByRole('combobox')
  await choice.focus()
  await choice.getByRole('option', { name: 'dora' }).waitFor({ state: 'attached' })
  await choice.selectOption('dora')
  const said = page
    .getByRole('status')
    .filter({ hasText: '\u2068Who takes [U+202E]it?\u2069: assigned to dora' })
  await said.getByRole('button', { name: 'Undo' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: '\u2068Who takes [U+202E]it?\u2069: assigned to nobody' })
    .waitFor()
  assert.equal(await choice.inputValue(), '')
  await assertLooks(page, 'tickets-board-assignee')
  await editTicket(id, { status: 'closed' })
})

test('a user who is mentioned in a comment gets a notice, and finds the ticket later', async (t) => {
  const body = { name: 'lena.k', password: PASSWORD, roles: ['devops'] }
  const created = await world.platform.call('POST', '/users', { body })
  const { id: lena } = (await created.json()) as { id: string }
  const id = await createTicket('Ask somebody')
  const theirs = await world.open(t, 'orders', { role: '' })
  await theirs.getByLabel('Name', { exact: true }).fill(body.name)
  await theirs.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await theirs.getByRole('button', { name: 'Sign in' }).click()
  await theirs.getByText('Live', { exact: true }).waitFor()
  const page = await world.open(t, 'orders')
  await page.getByText('Live', { exact: true }).waitFor()
  const typed = Promise.withResolvers<void>()
  await page.route('**/users?*', async (route) => {
    await typed.promise
    await route.continue()
  })
  await page.goto(`${world.platform.url}/console/tickets/${id}`)
  const comment = drawer(page, 'Ask somebody').getByLabel('Comment')
  // The text is at the lower edge of the window, and the names below it.
  await page.setViewportSize({ width: 1_440, height: 640 })
  await comment.focus()
  await page.keyboard.type('Please ask @LE')
  // The users may be read only after that.
  typed.resolve()
  const name = page
    .getByRole('listbox', { name: 'People' })
    .getByRole('option', { name: 'lena.k', selected: true })
  await name.waitFor()
  assert.ok(await name.evaluate((option) => option.getBoundingClientRect().bottom <= innerHeight))
  const [text, list] = [await comment.boundingBox(), await page.getByRole('listbox').boundingBox()]
  assert.ok(text && list && Math.abs(list.y - text.y - text.height) < 2, 'the names are at the text')
  await assertLooks(page, 'tickets-mention')
  await page.keyboard.press('Enter')
  await page.keyboard.type('about it')
  assert.equal(await comment.inputValue(), 'Please ask @lena.k about it')
  await page.keyboard.press('Control+Enter')
  const news = theirs.getByRole('status').filter({ hasText: 'You are mentioned: \u2068Ask somebody\u2069' })
  await news.waitFor()
  await theirs.getByRole('link', { name: 'My work 1 with new comments mention you' }).click()
  const section = theirs.getByRole('region', { name: 'Tickets that mention me' })
  await section.getByText(/^New comments · Open/).waitFor()
  await news.getByRole('button', { name: 'Open' }).click()
  await drawer(theirs, 'Ask somebody').getByText('Please ask @lena.k about it').waitFor()
  await theirs.getByRole('link', { name: 'My work', exact: true }).waitFor()
  await theirs.goto(`${world.platform.url}/console/tickets?mentioned=${lena}`)
  await theirs.getByRole('row').filter({ hasText: 'Ask somebody' }).waitFor()
  await editTicket(id, { status: 'closed' })
})

test('a comment is shown once, and not again in the history', async (t) => {
  const id = await createTicket('Commented once')
  await editTicket(id, { comment: 'only once', status: 'in_progress' })
  await editTicket(id, { comment: 'and this one' })
  const page = await world.open(t, `tickets/${id}`)
  const shown = drawer(page, 'Commented once')
  await shown.getByRole('list', { name: 'History' }).getByText('Status: Open → In progress').waitFor()
  assert.equal(await shown.getByText('only once').count(), 1)
  assert.equal(await shown.getByText('and this one').count(), 1)
  assert.equal(await shown.getByRole('list', { name: 'History' }).getByRole('listitem').count(), 2)
})

test('the comments before the newest 50 are shown when they are asked for', async (t) => {
  const id = await createTicket('Much discussed')
  for (let count = 1; count <= 52; count++) await editTicket(id, { comment: `No. ${count}.` })
  const page = await world.open(t, `tickets/${id}`)
  const entries = drawer(page, 'Much discussed').getByRole('list', { name: 'Comments' }).getByRole('listitem')
  await entries.filter({ hasText: 'No. 52.' }).waitFor()
  assert.equal(await entries.count(), 50)
  await page.getByRole('button', { name: 'Show older comments' }).click()
  await entries.filter({ hasText: 'No. 1.' }).waitFor()
  assert.equal(await entries.count(), 52)
  assert.equal(await page.getByRole('button', { name: 'Show older comments' }).count(), 0)
})

// Within the window.
const FAR_DOWN_PX = 300

test('a ticket is dragged to another status, back with undo, and not over the change of another', async (t) => {
  const id = await createTicket('Move the printer')
  const page = await world.open(t, 'tickets?view=board')
  const card = (status: string) => column(page, status).getByText('Move the printer')
  // A column takes the card below its last one, too.
  const { height } = (await column(page, 'Open').boundingBox()) ?? { height: 0 }
  assert.ok(height > FAR_DOWN_PX)
  await card('Open').dragTo(column(page, 'In progress'), { targetPosition: { x: 60, y: FAR_DOWN_PX } })
  await card('In progress').waitFor()
  await card('Open').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await card('Open').waitFor()
  // From the status to which the API has no direct way back, too.
  await editTicket(id, { status: 'in_progress' })
  await card('In progress').dragTo(column(page, 'Resolved').getByRole('heading'))
  const resolved = page.getByRole('status').filter({ hasText: ': Resolved' })
  await resolved.getByRole('button', { name: 'Undo' }).last().click()
  await card('In progress').waitFor()
  await editTicket(id, { status: 'open' })
  await card('Open').waitFor()
  // The answer to this page comes from before the other one's change.
  await page.route(`**/tickets/${id}`, async (route) => {
    if (route.request().method() === 'PUT') await editTicket(id, { level: 'low' })
    await route.continue()
  })
  await card('Open').dragTo(column(page, 'Resolved').getByRole('heading'))
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('row', { name: 'Status Resolved Open' }).waitFor()
  await page.unroute(`**/tickets/${id}`)
  await conflict.getByRole('button', { name: 'Apply my change anyway' }).click()
  await card('Resolved').waitFor()
})

test('a conflict shows both versions, and the change can be applied anyway', async (t) => {
  const id = await createTicket('Two people at once')
  const page = await world.open(t, `tickets/${id}`)
  let isFirst = true
  await page.route(`**/tickets/${id}`, async (route) => {
    if (route.request().method() === 'PUT' && isFirst) {
      isFirst = false
      await editTicket(id, { level: 'low' })
    }
    await route.continue()
  })
  await drawer(page, 'Two people at once').getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit' })
  await dialog.getByLabel('Level').selectOption('Critical')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('cell', { name: 'Low' }).waitFor()
  await conflict.getByRole('button', { name: 'Apply my change anyway' }).click()
  await drawer(page, 'Two people at once').getByText('Critical').first().waitFor()
})

test('an edit keeps what others change meanwhile, and a change of the same field is compared', async (t) => {
  const id = await createTicket('Edited by two')
  const page = await world.open(t, `tickets/${id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  const dialog = page.getByRole('dialog', { name: 'Edit' })
  const openAndChange = async (title: string, level: string, meanwhile: object, seen: string) => {
    await drawer(page, title).getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Level').selectOption(level)
    await editTicket(id, meanwhile)
    await page.getByRole('list', { name: 'History' }).getByText(seen).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
  }
  await openAndChange(
    'Edited by two',
    'Low',
    { title: 'Another title' },
    'Title: Edited by two → Another title',
  )
  await page.getByRole('list', { name: 'History' }).getByText('Level: High → Low').waitFor()
  await drawer(page, 'Another title').waitFor()
  await openAndChange('Another title', 'Info', { level: 'critical' }, 'Level: Low → Critical')
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('row', { name: 'Level Info Critical' }).waitFor()
  assert.equal(await conflict.getByRole('row').count(), 2)
  await page.keyboard.press('Escape')
  await conflict.waitFor({ state: 'detached' })
  assert.equal(await dialog.getByLabel('Level').inputValue(), 'info')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await conflict.getByRole('button', { name: 'Keep the current version' }).click()
  await dialog.waitFor({ state: 'detached' })
})

test('Escape and the comments of others keep a comment that is being written', async (t) => {
  const id = await createTicket('Do not lose me')
  const page = await world.open(t, `tickets/${id}`)
  const shown = drawer(page, 'Do not lose me')
  await shown.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog', { name: 'Edit' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await shown.getByLabel('Comment').fill('  ')
  await page.keyboard.press('Control+Enter')
  await shown.locator('.fault').getByText('This field is required.').waitFor()
  await shown.getByLabel('Comment').fill('half of a sentence')
  await page.getByText('Live', { exact: true }).waitFor()
  await editTicket(id, { comment: 'from another person' })
  await shown.getByRole('list', { name: 'Comments' }).getByText('from another person').waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await shown.getByRole('textbox').inputValue(), 'half of a sentence')
  await page.keyboard.press('Escape')
  await shown.waitFor({ state: 'detached' })
})

test('a comment that is being written is kept for its ticket, and a form is not closed without a question', async (t) => {
  const [first, second] = [await createTicket('The first one'), await createTicket('The second one')]
  const page = await world.open(t, `tickets/${first}`)
  await drawer(page, 'The first one').getByLabel('Comment').fill('half of a thought')
  await page.getByRole('link', { name: 'The second one' }).click()
  assert.equal(await drawer(page, 'The second one').getByRole('textbox').inputValue(), '')
  await page.getByRole('link', { name: 'The first one' }).click()
  const comment = drawer(page, 'The first one').getByRole('textbox')
  assert.equal(await comment.inputValue(), 'half of a thought')
  assert.notEqual(first, second)
  await page.getByRole('button', { name: 'New ticket' }).click()
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByLabel('Title').fill('Nearly lost')
  await page.keyboard.press('Escape')
  const question = page.getByRole('alertdialog', { name: 'Close the form?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  assert.equal(await dialog.getByLabel('Title').inputValue(), 'Nearly lost')
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'detached' })
})

/** Reloads the page, and answers the question of the browser with no. */
async function refuseReload(page: Page) {
  const { promise: asked, resolve } = Promise.withResolvers<string>()
  page.once('dialog', (question) => void question.dismiss().then(() => resolve(question.type())))
  // A script that reloads the page does not end before the answer.
  await page.evaluate(() => void setTimeout(() => location.reload(), 50))
  assert.equal(await asked, 'beforeunload')
}

test('the browser leaves a form with what was typed only after a question', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('navigation').getByRole('link', { name: 'Tickets' }).click()
  await page.getByRole('button', { name: 'New ticket' }).click()
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByLabel('Title').fill('Nearly lost')
  const back = () => page.evaluate(() => history.back())
  await back()
  const question = page.getByRole('alertdialog', { name: 'Close the form?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  assert.equal(await dialog.getByLabel('Title').inputValue(), 'Nearly lost')
  await refuseReload(page)
  assert.equal(await dialog.getByLabel('Title').inputValue(), 'Nearly lost')
  await back()
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.waitForURL('**/console/orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
})

test('the browser asks before a reload loses a comment that is being written', async (t) => {
  const page = await world.open(t, `tickets/${await createTicket('A long thought')}`)
  const comment = drawer(page, 'A long thought').getByLabel('Comment')
  await comment.fill('half of it')
  await refuseReload(page)
  assert.equal(await comment.inputValue(), 'half of it')
  await page.getByRole('button', { name: 'Sign out' }).click()
  const question = page.getByRole('alertdialog', { name: 'Sign out?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await comment.inputValue(), 'half of it')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await question.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
})

test('an edit that empties what a ticket must have is refused', async (t) => {
  const page = await world.open(t, `tickets/${await createTicket('Not without a title')}`)
  await drawer(page, 'Not without a title').getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit' })
  assert.equal(await dialog.getByLabel('Level').getByRole('option', { name: 'Not set' }).count(), 0)
  await dialog.getByLabel('Title').fill('  ')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.locator('.fault').getByText('This field is required.').waitFor()
  await dialog.getByLabel('Title').and(page.locator(':focus')).waitFor()
})

test('a form that is being sent asks no question, and closes when it is sent', async (t) => {
  const page = await world.open(t, 'tickets')
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/tickets', async (route) => {
    if (route.request().method() === 'POST') await released
    await route.continue()
  })
  await page.getByRole('button', { name: 'New ticket' }).click()
  const dialog = page.getByRole('dialog', { name: 'New ticket' })
  await dialog.getByLabel('Title').fill('On its way')
  await dialog.getByLabel('Level').selectOption('Low')
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('button', { name: 'Saving …' }).waitFor()
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
  assert.equal(await page.getByRole('alertdialog').count(), 0)
  assert.equal(await dialog.getByRole('button', { name: 'Cancel', disabled: true }).count(), 1)
  release()
  await drawer(page, 'On its way').waitFor()
  assert.equal(await page.locator('dialog').count(), 0)
})

test('a form asks again and again before it closes', async (t) => {
  const page = await world.open(t, 'tickets', { language: 'zh' })
  await page.getByRole('button', { name: '新建工单' }).click()
  const dialog = page.getByRole('dialog', { name: '新建工单' })
  await dialog.getByLabel('标题').fill('keep me')
  const question = page.getByRole('alertdialog', { name: '要关闭表单吗？' })
  for (let time = 0; time < 3; time++) {
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: '继续编辑' }).waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
  }
  assert.equal(await dialog.getByLabel('标题').inputValue(), 'keep me')
})

test('a role sees only what it may do', async (t) => {
  const id = await createTicket('Only to read')
  const page = await world.open(t, `tickets/${id}`, { role: 'auditor' })
  await drawer(page, 'Only to read').getByText('Open', { exact: true }).first().waitFor()
  assert.equal(await page.getByRole('button', { name: /New ticket|Start|Edit|Comment/ }).count(), 0)
})

test('every role sees the names of users', async (t) => {
  const body = { name: 'boris', password: PASSWORD, roles: ['devops'] }
  const created = await world.platform.call('POST', '/users', { body })
  const { id: user } = (await created.json()) as { id: string }
  const id = await createTicket('The author has a name')
  await world.platform.call('PUT', `/tickets/${id}`, { body: { comment: 'on it' }, user })
  for (const role of ['admin', 'auditor'] as const) {
    const page = await world.open(t, `tickets/${id}`, { role })
    await page.getByRole('list', { name: 'Comments' }).getByText('boris', { exact: true }).waitFor()
    await filterBy(page, 'Assignee', role === 'admin' ? 'boris' : 'Me')
    await page.getByText('No ticket matches the filters.').waitFor()
  }
})

test('an administrator assigns a ticket to another user, and to nobody', async (t) => {
  const body = { name: 'carla', password: PASSWORD, roles: ['devops'] }
  await world.platform.call('POST', '/users', { body })
  const id = await createTicket('Somebody else knows this')
  const page = await world.open(t, `tickets/${id}`)
  const shown = drawer(page, 'Somebody else knows this')
  const assign = async (name: string) => {
    await shown.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit' })
    await dialog.getByLabel('Assignee').selectOption(name)
    await assertLooks(page, `tickets-assign-${name}`)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await assign('carla')
  await shown.getByRole('list', { name: 'History' }).getByText('Assignee: Nobody → carla').waitFor()
  await page.keyboard.press('Escape')
  const row = page.getByRole('row', { name: /Somebody else knows this/ })
  await row.getByText('carla').waitFor()
  await row.getByRole('link').click()
  await assign('Not set')
  await shown.getByRole('list', { name: 'History' }).getByText('Assignee: carla → Nobody').waitFor()
})

test('another role assigns a ticket to itself in the dialog', async (t) => {
  const id = await createTicket('Mine from now on')
  const page = await world.open(t, `tickets/${id}`, { role: 'devops', language: 'zh' })
  await page.getByRole('button', { name: '编辑' }).click()
  const dialog = page.getByRole('dialog', { name: '编辑' })
  await dialog.getByLabel('负责人').selectOption('我')
  await dialog.getByRole('button', { name: '保存' }).click()
  await page.getByRole('button', { name: '取消分配' }).waitFor()
})

test('web addresses in a description and a comment are links; the text around them is text', async (t) => {
  const description = 'See <b>https://wiki.example/a?b=c</b>, not javascript:alert(1).'
  const id = await createTicket('With addresses', { description })
  const { url } = world.platform
  await editTicket(id, { comment: `As in ${url}/console/orders.` })
  const page = await world.open(t, `tickets/${id}`)
  const shown = drawer(page, 'With addresses')
  await shown.getByRole('definition').getByText(description).waitFor()
  const link = shown.getByRole('link', { name: 'https://wiki.example/a?b=c' })
  assert.equal(await link.getAttribute('href'), 'https://wiki.example/a?b=c')
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  assert.equal(await shown.getByRole('link').count(), 2)
  await assertLooks(page, 'tickets-links')
  const opened = page.context().waitForEvent('page')
  await shown.getByRole('list', { name: 'Comments' }).getByRole('link').click()
  const tab = await opened
  t.after(() => tab.close())
  await tab.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
})

test('hostile text in every field is shown as text', async (t) => {
  const id = await createTicket(HOSTILE, { description: `${HOSTILE}${'x'.repeat(10_000)}`, source: HOSTILE })
  await editTicket(id, { comment: HOSTILE })
  const page = await world.open(t, `tickets/${id}?view=board`)
  await page.getByRole('list', { name: 'Comments' }).getByText(HOSTILE.slice(0, 40)).waitFor()
  await assertLooks(page, 'tickets-hostile')
})

test('a ticket that cannot be read is described', async (t) => {
  const page = await world.open(t, 'tickets/unknown')
  await page.getByRole('alert').waitFor()
  await assertLooks(page, 'tickets-failed')
})

test('several tickets get an assignee and a status together', async (t) => {
  for (const name of ['one', 'two']) await createTicket(`Together ${name}`, { source: 'together' })
  const page = await world.open(t, 'tickets?source=together')
  await page.getByRole('checkbox', { name: 'Together one' }).check()
  await page.getByRole('checkbox', { name: 'Together two' }).check()
  const bar = page.getByRole('group', { name: '2 selected' })
  await bar.getByRole('button', { name: 'Assign to' }).click()
  await page.getByRole('menuitem', { name: 'Me', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Assign to Me' }).click()
  await page.getByRole('status').filter({ hasText: 'Assign to Me: 2 done.' }).waitFor()
  await page
    .getByRole('row', { name: /Together one/ })
    .getByText('you')
    .waitFor()
  await page.getByRole('checkbox', { name: 'Select the whole page' }).check()
  await bar.getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('status').filter({ hasText: 'Resolve: 2 done.' }).waitFor()
  await page
    .getByRole('row', { name: /Together two/ })
    .getByText('Resolved')
    .last()
    .waitFor()
})

test('the board has the filters of the list, and takes them along', async (t) => {
  await createTicket('On the board low', { source: 'filtered', level: 'low' })
  await createTicket('On the board high', { source: 'filtered' })
  const page = await world.open(t, 'tickets?view=board&source=filtered')
  await column(page, 'Open').getByRole('link', { name: 'On the board low' }).waitFor()
  await filterBy(page, 'Level', 'High')
  await column(page, 'Open').getByRole('link', { name: 'On the board low' }).waitFor({ state: 'detached' })
  await column(page, 'Open').getByRole('link', { name: 'On the board high' }).waitFor()
  assert.equal(new URL(page.url()).search, '?view=board&source=filtered&level=high')
  await page.getByRole('link', { name: 'List', exact: true }).click()
  await page.getByRole('row', { name: /On the board high/ }).waitFor()
  assert.equal(new URL(page.url()).search, '?level=high&source=filtered')
})
