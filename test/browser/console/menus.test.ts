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
  const moved = review.getByText('Cart (place 3) → Home › Cart (place 1)')
  assert.equal(
    await moved.textContent(),
    'Cart (place 3) → Home › Cart (place 1)\nProducts (place 2) → Products (place 1)',
  )
  await assertLooks(page, 'menus-review')
  assert.deepEqual(await savedTree(), ['home', 'products', 'cart'])
  await review.getByRole('button', { name: 'Save' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await toast(page, 'The menus are saved.').waitFor()
  assert.deepEqual(await savedTree(), ['products', 'home', 'cart < home'])
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
  await dialog.getByLabel('Id').fill('new')
  await dialog.getByLabel('Title').fill('What is new')
  await dialog.getByLabel('Path').fill('new')
  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  await dialog.getByText('It does not have the expected form.').waitFor()
  await dialog.getByLabel('Path').fill('/new')
  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  const node = drawer(page, 'What is new')
  await node.getByLabel('Shown').selectOption('No')
  await node.getByRole('button', { name: 'Apply to the draft' }).click()
  await row(page, 'What is new').getByText('Hidden').waitFor()
  await row(page, 'Cart').click()
  await drawer(page, 'Cart').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await assertLooks(page, 'menus-draft')
  await save(page)
  assert.deepEqual(await savedTree(), ['home', 'products', 'new < products'])
})

test('a draft is kept while other pages are open, and the browser asks before it is lost', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  const isAsked = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  await drawer(page, 'Home').getByRole('button', { name: 'Move down' }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="2"]')).waitFor()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  assert.equal(await isAsked(), true)
  await page.getByRole('link', { name: 'Menus', exact: true }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="2"]')).waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click()
  await row(page, 'Home').and(page.locator('[aria-posinset="1"]')).waitFor()
  assert.equal(await isAsked(), false)
})

test('a conflict shows both versions; my change is made to the current one', async (t) => {
  await startTree()
  const page = await world.open(t, 'menus/home')
  await drawer(page, 'Home').getByRole('button', { name: 'Move down' }).click()
  await editMenus([{ id: 'cart', title: 'Basket' }])
  await page.getByRole('button', { name: 'Review and save' }).click()
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('cell', { name: 'Basket (place 3)' }).waitFor()
  await assertLooks(page, 'menus-conflict')
  await conflict.getByRole('button', { name: 'Apply my change anyway' }).click()
  await row(page, 'Basket').waitFor()
  await save(page)
  assert.deepEqual(await savedTree(), ['products', 'home', 'cart'])
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
  const hostile = { id: 'hostile', title: HOSTILE.slice(0, 99), path: `/${HOSTILE}${'x'.repeat(150)}` }
  await world.platform.call('PUT', '/menus', { body: { items: [hostile], replace: true } })
  const page = await world.open(t, 'menus/hostile')
  await row(page, HOSTILE.slice(0, 40)).waitFor()
  await assertLooks(page, 'menus-hostile')
  await world.platform.call('PUT', '/menus', { body: { items: [], replace: true } })
  await page.getByText('The shop has no menus.').waitFor()
  await page.getByLabel('Language').selectOption('zh')
  await page.getByText('商城没有菜单。').waitFor()
})

test('a tree that cannot be read is described', async (t) => {
  const page = await world.open(t, 'orders')
  await page.route('**/menus?*', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.keyboard.press('g')
  await page.keyboard.press('n')
  await page.getByRole('alert').waitFor()
})
