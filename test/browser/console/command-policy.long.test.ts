import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertLooks, consoleWorld, HOSTILE } from './console-world.ts'

const COMMANDS = `
[commands.greet]
title = ${JSON.stringify(HOSTILE)}
run = ["echo", "hello"]

[commands.restart]
title = "Restart the shop"
run = ["true"]
approval = "two_person"
`

const world = consoleWorld({}, { toml: COMMANDS })

type Rules = Readonly<Record<string, object>>

async function setRules(rules: Rules): Promise<void> {
  const answer = await world.platform.call('PUT', '/commands/policy', { body: { rules } })
  assert.equal(answer.status, 200)
}

async function rules(): Promise<Rules> {
  const answer = await world.platform.call('GET', '/commands/policy')
  return ((await answer.json()) as { rules: Rules }).rules
}

async function userNamed(name: string): Promise<{ id: string }> {
  const answer = await world.platform.call('GET', '/users?limit=100')
  const { items } = (await answer.json()) as { items: { id: string; name: string }[] }
  const found = items.find((user) => user.name === name)
  if (!found) throw new Error(`There is no user ${name}.`)
  return found
}

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title })
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

test('without a rule each command is for administrators, and the history says that it is empty', async (t) => {
  const page = await world.open(t, 'command-policy', { language: 'zh' })
  await page.getByRole('row').filter({ hasText: 'orders.expire-due' }).getByText('管理员 (无规则)').waitFor()
  await page.getByRole('link', { name: '历史记录' }).click()
  await page.getByText('策略从未更改过。').waitFor()
  await page.getByLabel('语言').selectOption('en')
  await page.getByText('The policy was never changed.').waitFor()
})

test('a rule is set, edited and removed; the history shows who did it', async (t) => {
  await setRules({ greet: { roles: ['devops'] } })
  const page = await world.open(t, 'command-policy/restart')
  const rule = drawer(page, 'Restart the shop')
  await rule.getByText('It has no rule, so only administrators may run it.').waitFor()
  await rule.getByText('By another person (As the command says)').waitFor()
  await rule.getByRole('button', { name: 'Set a rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('group', { name: 'May run it' }).getByLabel('Operations').check()
  await dialog.getByRole('group', { name: 'May approve it' }).getByLabel('Administrator').uncheck()
  await dialog.getByLabel('Approval').selectOption('By another person')
  await assertLooks(page, 'command-policy-edit')
  await dialog.getByRole('button', { name: 'Save the rule' }).click()
  await toast(page, 'The policy is changed.').waitFor()
  await page.getByRole('row').filter({ hasText: 'restart' }).getByText('Administrator, Operations').waitFor()
  const restart = { roles: ['admin', 'devops'], approvers: [], approval: 'two_person' }
  assert.deepEqual(await rules(), { greet: { roles: ['devops'] }, restart })
  await assertLooks(page, 'command-policy')
  await rule.getByRole('button', { name: 'Remove the rule' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove the rule' }).click()
  await rule.getByText('It has no rule, so only administrators may run it.').waitFor()
  assert.deepEqual(await rules(), { greet: { roles: ['devops'] } })
  await page.getByRole('link', { name: 'History' }).click()
  const history = page.getByRole('list', { name: 'History' }).getByRole('listitem')
  await history.first().getByText('by you').waitFor()
  await history
    .first()
    .getByText(/restart: Administrator, Operations · .* → No rule/)
    .waitFor()
  await history
    .nth(1)
    .getByText('restart: No rule → Administrator, Operations · approved by Nobody')
    .waitFor()
  await history.nth(2).getByText('by tester').waitFor()
  await assertLooks(page, 'command-policy-history')
})

test('a policy that was changed meanwhile is compared, and the other rules stay as they are', async (t) => {
  await setRules({})
  const page = await world.open(t, 'command-policy/restart')
  const rule = drawer(page, 'Restart the shop')
  await rule.getByRole('button', { name: 'Set a rule' }).click()
  await setRules({ greet: { roles: ['devops'] }, restart: { roles: [] } })
  await page.getByRole('dialog').getByRole('button', { name: 'Save the rule' }).click()
  const conflict = page.getByRole('alertdialog', { name: 'Changed in the meantime' })
  await conflict.getByRole('cell', { name: 'Nobody · approved by Administrator' }).waitFor()
  await conflict.getByRole('cell', { name: 'Administrator · approved by Administrator' }).waitFor()
  await assertLooks(page, 'command-policy-conflict')
  await conflict.getByRole('button', { name: 'Apply my change anyway' }).click()
  await toast(page, 'The policy is changed.').waitFor()
  const restart = { roles: ['admin'], approvers: ['admin'] }
  assert.deepEqual(await rules(), { greet: { roles: ['devops'] }, restart })
})

test('the page says whether a user may run a command, and why', async (t) => {
  await setRules({ greet: { roles: ['admin', 'devops'] } })
  const page = await world.open(t, 'command-policy/greet')
  const rule = drawer(page, HOSTILE.slice(0, 40))
  await rule.getByLabel('User').selectOption({ label: 'you' })
  await rule.getByRole('button', { name: 'Check' }).click()
  await rule.getByText('Allowed', { exact: true }).waitFor()
  await rule.getByText('allows admin, devops; the user has admin.').waitFor()
  await assertLooks(page, 'command-policy-access')
})

test('an auditor reads the policy and explains it by id, but cannot change it', async (t) => {
  await setRules({ restart: { roles: ['devops'] } })
  const page = await world.open(t, 'command-policy/restart', { role: 'auditor' })
  const rule = drawer(page, 'Restart the shop')
  await rule.getByLabel('User').fill('nobody')
  await rule.getByRole('button', { name: 'Check' }).click()
  await rule.getByRole('alert').waitFor()
  const { id } = await userNamed('the-auditor')
  await rule.getByLabel('User').fill(id)
  await rule.getByRole('button', { name: 'Check' }).click()
  await rule.getByText('Not allowed').waitFor()
  assert.equal(await page.getByRole('button', { name: /rule/ }).count(), 0)
  const other = await world.open(t, 'command-policy', { role: 'devops' })
  await other.getByText('There is no such page, or your roles do not allow it.').waitFor()
})

test('a rule is found by keyboard alone, and a policy that cannot be read is described', async (t) => {
  await setRules({})
  const page = await world.open(t, 'commands/restart')
  await drawer(page, 'Restart the shop')
    .getByRole('link', { name: 'Who may run this command' })
    .press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Command policy' }).waitFor()
  await drawer(page, 'Restart the shop').getByRole('button', { name: 'Set a rule' }).press('Enter')
  await page.getByRole('dialog').getByLabel('Auditor').first().press('Space')
  await page.keyboard.press('Control+Enter')
  await toast(page, 'The policy is changed.').waitFor()
  await page.keyboard.press('Escape')
  await page.route('**/commands/policy', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('alert').waitFor()
})
