import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertLooks, consoleWorld, HOSTILE } from './console-world.ts'

const world = consoleWorld()

interface Node {
  readonly id: string
  readonly title: string
  readonly parent_id: string | null
}

async function editMenus(items: readonly object[]): Promise<void> {
  const answer = await world.platform.call('PUT', '/menus', { body: { items } })
  assert.equal(answer.status, 200)
}

/** The saved tree, each parent before its children: `id < parent`. */
async function savedTree(): Promise<string[]> {
  const answer = await world.platform.call('GET', '/menus?flat=true&all=true')
  const { items } = (await answer.json()) as { items: Node[] }
  return items.map(({ id, parent_id }) => (parent_id === null ? id : `${id} < ${parent_id}`))
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** The tree that the other tests of this file start from. */
const START = ['home', 'products', 'cart'].map((id, index) => {
  return { id, title: capitalized(id), parent_id: null, path: `/${id}`, position: index, enabled: true }
})

async function startTree(): Promise<void> {
  const answer = await world.platform.call('PUT', '/menus', { body: { items: START, replace: true } })
  assert.equal(answer.status, 200)
}

const row = (page: Page, name: string) => page.getByRole('treeitem', { name })
const drawer = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
/** The path is isolated, so that its direction of writing does not change the rest. */
const placed = (path: string, place: number) => `\u2068${path}\u2069 (place ${place})`
const words = (text: string) => text.trim().split(/\s+/).join(' ')
/** Whether the browser would ask before it leaves the page. */
const isAsked = (page: Page) =>
  page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review and save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await toast(page, 'The menus are saved.').waitFor()
}

test('a menu is moved by keyboard alone, reviewed and saved', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus')
  await row(page, 'Home').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('Alt+ArrowUp')
  const first = page.locator('[aria-posinset="1"][aria-level="1"]:focus')
  await row(page, 'Products').and(first).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Alt+ArrowRight')
  await row(page, 'Cart').and(page.locator('[aria-level="2"]')).waitFor()
  await page.getByRole('button', { name: 'Review and save' }).press('Enter')
  const review = page.getByRole('dialog', { name: 'These changes will be saved' })
  const moved = review.getByText(`${placed('Cart', 3)} → ${placed('Home › Cart', 1)}`)
  assert.equal(
    await moved.textContent(),
    `${placed('Cart', 3)} → ${placed('Home › Cart', 1)}\n${placed('Products', 2)} → ${placed('Products', 1)}`,
  )
  await assertLooks(page, 'menus-review')
  assert.deepEqual(await savedTree(), ['home', 'products', 'cart'])
  await review.getByRole('button', { name: 'Save' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await toast(page, 'The menus are saved.').waitFor()
  assert.deepEqual(await savedTree(), ['products', 'home', 'cart < home'])
})

test('a menu that does not exist is described', async (t) => {
  const page = await world.open(t, 'menus/none')
  await drawer(page, 'none').getByText('There is no such menu.').waitFor()
  await page.keyboard.press('Escape')
  await drawer(page, 'none').waitFor({ state: 'detached' })
})

test('a menu is moved by mouse, before, into and behind another one', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus')
  const height = (await row(page, 'Home').boundingBox())?.height ?? 0
  await row(page, 'Cart').dragTo(row(page, 'Home'), { targetPosition: { x: 60, y: 2 } })
  await row(page, 'Cart').and(page.locator('[aria-posinset="1"]')).waitFor()
  await row(page, 'Home').dragTo(row(page, 'Products'), { targetPosition: { x: 60, y: height / 2 } })
  await row(page, 'Home').and(page.locator('[aria-level="2"]')).waitFor()
  await row(page, 'Cart').dragTo(row(page, 'Products'), { targetPosition: { x: 60, y: height - 7 } })
  await save(page)
  assert.deepEqual(await savedTree(), ['products', 'home < products', 'cart'])
})

test('a menu is added, refused at its field, edited, hidden and removed', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/products')
  await page.getByRole('button', { name: 'New menu' }).click()
  const dialog = page.getByRole('dialog', { name: 'New menu' })
  await dialog.getByLabel('Id').fill('home')
  await dialog.getByLabel('Title').fill('What is new')
  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  await dialog.getByText('There is a menu with this id.').waitFor()
  await dialog.getByLabel('Id').fill('new')
  await dialog.getByLabel('Path').fill('new')
  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  await dialog.getByText('It must begin with “/”.').waitFor()
  await dialog.getByLabel('Path').fill('/new')
  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  const node = drawer(page, 'What is new')
  await node.waitFor()
  assert.equal(await isAsked(page), true)
  await node.getByLabel('Shown').selectOption('No')
  await node.getByRole('button', { name: 'Apply to the draft' }).click()
  await toast(page, 'It is in the draft and can be saved.').waitFor()
  assert.deepEqual(await node.getByLabel('Shown').getByRole('option').allTextContents(), ['Yes', 'No'])
  await row(page, 'What is new').getByText('Hidden').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Menus an unsaved draft' }).waitFor()
  await node.getByLabel('Parent').selectOption('At the top')
  await node
    .getByText('What is new (place 4)')
    .or(node.getByText(/What is new. \(place 4\)/))
    .waitFor()
  await node.getByLabel('Parent').selectOption('Products')
  await row(page, 'Cart').click()
  await drawer(page, 'Cart').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await assertLooks(page, 'menus-draft')
  await save(page)
  assert.deepEqual(await savedTree(), ['home', 'products', 'new < products'])
})

test('the review says which fields change, and a double click saves once', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  await drawer(page, 'Home').getByLabel('Shown').selectOption('No')
  await drawer(page, 'Home').getByLabel('Path').fill('/start')
  await drawer(page, 'Home').getByLabel('Title').fill('Start')
  let saved = 0
  page.on('request', (request) => {
    if (request.method() === 'PUT' && !request.postData()?.includes('"dry_run":true')) saved += 1
  })
  await page.getByRole('button', { name: 'Review and save' }).click()
  const review = page.getByRole('dialog', { name: 'These changes will be saved' })
  await review.getByText('Shown: \u2068Yes\u2069 → \u2068No\u2069').waitFor()
  await review.getByText('→ \u2068/start\u2069').waitFor()
  await review.getByText('Title: \u2068Home\u2069 → \u2068Start\u2069').waitFor()
  await review.getByRole('button', { name: 'Save' }).dblclick()
  await toast(page, 'The menus are saved.').waitFor()
  await page.getByText('Nothing is changed.').waitFor()
  assert.equal(saved, 1)
})

test('a draft is kept while other pages are open, and the browser asks before it is lost', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  await drawer(page, 'Home').getByRole('button', { name: 'Move down' }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="2"]')).waitFor()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  assert.equal(await isAsked(page), true)
  await page.getByRole('link', { name: /^Menus/ }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="2"]')).waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="1"]')).waitFor()
  assert.equal(await isAsked(page), false)
})

test('what is typed is in the draft at once, whatever is opened next, and a discard takes it back', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  const title = page.getByLabel('Title')
  await title.fill('')
  await page.getByRole('button', { name: 'Review and save' }).click()
  const refusal = page.getByRole('dialog', { name: 'The draft cannot be saved' })
  await refusal.getByRole('button', { name: 'Cancel' }).click()
  await title.pressSequentially('Big sale')
  await drawer(page, 'Big sale').waitFor()
  assert.equal(await title.inputValue(), 'Big sale')
  await row(page, 'Cart').click()
  await drawer(page, 'Cart').waitFor()
  await page.getByRole('button', { name: 'Review and save' }).click()
  await page.getByRole('dialog').getByText('Big sale').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await row(page, 'Big sale').click()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
  await row(page, 'Home').waitFor()
  assert.equal(await drawer(page, 'Home').getByLabel('Title').inputValue(), 'Home')
})

test('the moves work beside the tree, keep their places and the focus, and move nothing else', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus')
  await row(page, 'Cart').click()
  const panel = drawer(page, 'Cart')
  const moves = panel.getByRole('button', { name: /^Move/ })
  const places = () => moves.evaluateAll((buttons) => buttons.map((each) => each.getBoundingClientRect().top))
  const before = await places()
  assert.deepEqual(await moves.allTextContents(), ['Move up', 'Move down', 'Move in', 'Move out'])
  assert.equal(await panel.getByRole('button', { disabled: true }).count(), 2)
  await moves.last().press('Enter')
  assert.equal(await page.getByRole('button', { name: 'Review and save', disabled: true }).count(), 1)
  await moves.first().click()
  await moves.first().click()
  await panel.getByText(placed('Cart', 1)).waitFor()
  await panel.getByRole('button', { name: 'Move up', disabled: true }).and(page.locator(':focus')).waitFor()
  assert.deepEqual(await places(), before)
  await page.keyboard.press('Alt+ArrowDown')
  await panel.getByText(placed('Cart', 2)).waitFor()
  await panel.getByLabel('Title').press('Alt+ArrowUp')
  await panel.getByText(placed('Cart', 2)).waitFor()
})

test('a menu that is chosen by mouse has the focus, and moves by keys; one that is chosen by Enter is edited', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus')
  await row(page, 'Products').click()
  await drawer(page, 'Products').waitFor()
  await row(page, 'Products').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Alt+ArrowRight')
  await row(page, 'Products').and(page.locator('[aria-level="2"]:focus')).waitFor()
  await page.keyboard.press('Alt+ArrowLeft')
  await row(page, 'Products').and(page.locator('[aria-level="1"]:focus')).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Cart' }).and(page.locator(':focus')).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await drawer(page, 'Cart').getByRole('button', { name: 'Close' }).click()
  await row(page, 'Home').click()
  await page.getByRole('heading', { name: 'Home' }).and(page.locator(':focus')).waitFor()
})

test('a conflict shows only the changes of the user; they are added to the current version and reviewed', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  await drawer(page, 'Home').getByRole('button', { name: 'Move down' }).click()
  await drawer(page, 'Home').getByLabel('Title').fill('My home')
  await row(page, 'My home').waitFor()
  await editMenus([
    { id: 'cart', title: 'Basket' },
    { id: 'home', title: 'Start' },
    { id: 'kids', title: 'Kids' },
  ])
  await page.getByRole('button', { name: 'Review and save' }).click()
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  const rows = conflict.getByRole('row')
  await rows.first().waitFor()
  assert.deepEqual((await rows.allInnerTexts()).slice(1).map(words), [
    'Start Title \u2068Home\u2069 → \u2068My home\u2069 \u2068Home\u2069 → \u2068Start\u2069 Changed by both',
    `Start Place ${placed('My home', 2)} ${placed('Start', 1)}`,
  ])
  await editMenus([{ id: 'kids', title: 'Children' }])
  await assertLooks(page, 'menus-conflict')
  assert.equal(await rows.count(), 3)
  await page.keyboard.press('Escape')
  await row(page, 'My home').waitFor()
  await page.getByRole('button', { name: 'Review and save' }).click()
  await conflict.getByRole('button', { name: 'Add my changes and review' }).click()
  const review = page.getByRole('dialog', { name: 'These changes will be saved' })
  const changed = review.getByText(`${placed('Start', 1)} → ${placed('My home', 2)}`)
  await changed.waitFor()
  await editMenus([{ id: 'cart', title: 'Trolley' }])
  await row(page, 'Basket').waitFor()
  assert.equal(await review.getByText(/Basket|Trolley|Kids|Children/).count(), 0)
  await review.getByRole('button', { name: 'Save' }).click()
  await conflict.getByRole('button', { name: 'Add my changes and review' }).click()
  await row(page, 'Trolley').waitFor()
  await review.getByRole('button', { name: 'Save' }).click()
  await toast(page, 'The menus are saved.').waitFor()
  assert.deepEqual(await savedTree(), ['products', 'home', 'cart', 'kids'])
})

test('a change that others have made already needs no decision', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  await drawer(page, 'Home').getByLabel('Title').fill('Start')
  await row(page, 'Start').waitFor()
  await editMenus([{ id: 'home', title: 'Start' }])
  await page.getByRole('button', { name: 'Review and save' }).click()
  await toast(page, 'Another person or program has already made this change.').waitFor()
  await page.getByRole('button', { name: 'Review and save', disabled: true }).waitFor()
})

test('a tree that another browser changes is up to date, and a reader cannot change it', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home', { role: 'auditor' })
  await page.getByText('Live', { exact: true }).waitFor()
  await drawer(page, 'Home').getByText('At the top').waitFor()
  assert.equal(await page.getByRole('button', { name: /New menu|Move|Remove|Apply/ }).count(), 0)
  assert.equal(await row(page, 'Home').getAttribute('draggable'), 'false')
  await editMenus([{ id: 'home', title: 'Start' }])
  await row(page, 'Start').waitFor()
})

test('hostile text is shown as text, and an empty tree is described in both languages', async (t) => {
  const hostile = {
    id: 'hostile',
    title: HOSTILE.slice(0, 50) + 'x'.repeat(49),
    path: `/${HOSTILE}${'x'.repeat(150)}`,
  }
  await world.platform.call('PUT', '/menus', { body: { items: [hostile], replace: true } })
  const page = await world.open(t, 'menus/hostile')
  await row(page, HOSTILE.slice(0, 40)).waitFor()
  await assertLooks(page, 'menus-hostile')
  await world.platform.call('PUT', '/menus', { body: { items: [], replace: true } })
  await page.getByText('The shop has no menus.').waitFor()
  await drawer(page, 'hostile').getByText('There is no such menu.').waitFor()
  await page.getByLabel('Language').selectOption('zh')
  await page.getByText('商城没有菜单。').waitFor()
})

test('a tree that cannot be read is described', async (t) => {
  const page = await world.open(t, 'orders')
  await page.route('**/menus?*', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('n')
  await page.getByRole('alert').waitFor()
})
