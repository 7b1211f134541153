import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { BUILT_IN_ZH } from '../../../console/pages/console/commands/built-in.ts'
import { CHINESE_DESCRIPTIONS } from '../../../console/pages/console/settings/descriptions-zh.ts'
import { SETTING_TABLE } from '../../../src/config/schema.ts'
import { assertLooks, consoleWorld, filterBy, filterByText, HOSTILE } from './console-world.ts'

const COMMANDS = `
[commands.greet]
title = "Greet the shop"
description = "Says hello to the shop."
run = ["sh", "-c", "echo begin; echo hello \\"$1\\"", "greet", "{name}"]
params.name = { type = "string", pattern = "^[a-z ]+$", default = "shop", description = "Who is greeted" }
params.times = { type = "integer", default = 1 }
params.key = { type = "string", secret = true, pattern = "^[a-z ]+$" }

[commands.mischief]
title = "Write hostile text"
run = ["printf", "%s", "{text}"]
params.text = { type = "string" }

[commands.wait]
title = "Wait for a long time"
description = ${JSON.stringify(HOSTILE)}
run = ["sh", "-c", "echo waiting; exec sleep 600"]
approval = "two_person"

[commands.idle]
title = "Write nothing"
run = ["sleep", "600"]
approval = "two_person"
`

const SECRET = 'a-canary-that-signs-tokens-and-is-never-shown'
const world = consoleWorld({ JWT_SECRET: SECRET }, { toml: COMMANDS })

const drawer = (page: Page, title: string) => page.getByRole('region', { name: title })
const toast = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

async function execute(command: string, body: object): Promise<string> {
  const answer = await world.platform.call('POST', `/commands/${command}/execute`, { body })
  assert.equal(answer.status, 202)
  return ((await answer.json()) as { id: string }).id
}

test('without an execution the list says so, in both languages', async (t) => {
  const page = await world.open(t, 'executions', { language: 'zh' })
  await page.getByText('还没有运行过命令。').waitFor()
  await page.getByLabel('语言').selectOption('en')
  await page.getByText('No command was run yet.').waitFor()
})

test('a command is checked, refused at its field, and run, with its output', async (t) => {
  const page = await world.open(t, 'commands')
  await page.getByRole('link', { name: 'Greet the shop' }).click()
  const form = drawer(page, 'Greet the shop')
  await form.getByText('key (required)').waitFor()
  await form.getByText('It matches ^[a-z ]+$').waitFor()
  await form.getByLabel('name').fill('SHOP 1')
  await form.getByRole('button', { name: 'Run' }).click()
  await form.locator('.fault').getByText('does not match').waitFor()
  await form.getByLabel('name').fill('my shop')
  await form.getByLabel('key').fill('a secret key')
  await form.getByRole('button', { name: 'Check' }).click()
  await form.getByText('It would run: sh -c').waitFor()
  assert.equal(await form.getByLabel('key').getAttribute('type'), 'password')
  await assertLooks(page, 'commands-drawer')
  await form.getByRole('button', { name: 'Run' }).click()
  const execution = drawer(page, 'Greet the shop')
  await execution.getByRole('log').getByText('hello my shop').waitFor()
  await execution.getByText('Succeeded').waitFor()
  await execution.getByText('**redacted**').waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    execution.getByRole('button', { name: 'Download' }).click(),
  ])
  assert.match(file.suggestedFilename(), /^execution-[\da-f-]{36}\.txt$/)
  await execution.getByRole('button', { name: 'Whole window' }).click()
  await assertLooks(page, 'executions-output-wide')
  await page.keyboard.press('Escape')
  await execution.getByRole('button', { name: 'Whole window', pressed: false }).waitFor()
  await assertLooks(page, 'executions-drawer')
})

test('what is typed for a command is kept until it is run', async (t) => {
  const page = await world.open(t, 'commands/greet')
  const form = drawer(page, 'Greet the shop')
  await form.getByLabel('name').fill('ada')
  await form.getByLabel('key').fill('a secret key')
  await form.getByRole('button', { name: 'Check' }).click()
  await form.getByText('It would run: sh -c').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await page.getByRole('navigation').getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Commands' }).click()
  await page.getByRole('link', { name: 'Greet the shop' }).click()
  assert.equal(await form.getByLabel('name').inputValue(), 'ada')
  assert.equal(await form.getByLabel('key').inputValue(), '')
})

test('a command that the policy has taken away meanwhile says so, and leaves the list', async (t) => {
  const page = await world.open(t, 'commands/greet')
  const form = drawer(page, 'Greet the shop')
  await form.getByLabel('key').fill('a secret key')
  await page.route('**/commands/greet/execute', (route) =>
    route.fulfill({
      status: 403,
      json: { code: 'forbidden', message: 'The policy of commands does not allow it.' },
    }),
  )
  await page.route('**/commands?**', (route) => route.fulfill({ json: { items: [], next_cursor: null } }))
  await form.getByRole('button', { name: 'Run' }).click()
  await toast(page, 'The policy of commands has changed: you may not run this command.').waitFor()
  await page.getByText('There is no such command, or you may not run it.').waitFor()
})

test('a command is found and run by keyboard alone', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.getByRole('link', { name: 'Greet the shop' }).press('Enter')
  const form = drawer(page, 'Greet the shop')
  await form.getByLabel('name').press('Control+a')
  await page.keyboard.type('the keyboard')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await form.getByLabel('key').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('a secret key')
  await page.keyboard.press('Enter')
  await drawer(page, 'Greet the shop').getByRole('log').getByText('hello the keyboard').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('x')
  await page.getByRole('link', { name: 'Greet the shop' }).first().waitFor()
  await page.keyboard.press('j')
  await page.getByRole('link', { name: 'Greet the shop' }).first().and(page.locator(':focus')).waitFor()
})

test('another person approves; the output comes while it runs, and the run is cancelled', async (t) => {
  const page = await world.open(t, 'commands/wait')
  await drawer(page, 'Wait for a long time').getByText(HOSTILE.slice(0, 40)).waitFor()
  await page.getByRole('button', { name: 'Request approval' }).click()
  await page.locator('.fault').getByText('required').waitFor()
  await page.getByLabel('Reason').fill('a test')
  await page.getByRole('button', { name: 'Request approval' }).click()
  await page.getByText('You requested it: another person has to decide.').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
  assert.equal(await page.getByRole('heading', { name: 'Output' }).count(), 0)
  await world.platform.call('POST', `/commands/executions/${id}/approve`, { user: 'another' })
  await drawer(page, 'Wait for a long time').getByRole('log').getByText('waiting').waitFor()
  await drawer(page, 'Wait for a long time').getByRole('button', { name: 'Cancel the run' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the run' }).click()
  await toast(page, 'The execution is being cancelled.').waitFor()
  await drawer(page, 'Wait for a long time').getByText('Cancelled', { exact: true }).waitFor()
})

test('an execution that starts without an event or output is shown as running, in the list and beside it', async (t) => {
  const id = await execute('idle', { reason: 'a start' })
  const list = await world.open(t, 'executions?command_id=idle')
  const row = list.getByRole('row').filter({ hasText: 'a start' })
  await row.getByText('Awaiting approval').waitFor()
  const page = await world.open(t, `executions/${id}`)
  await drawer(page, 'Write nothing').getByText('Awaiting approval').waitFor()
  await world.platform.call('POST', `/commands/executions/${id}/approve`, { user: 'another' })
  await row.getByText('Running').waitFor()
  await drawer(page, 'Write nothing').getByText('Running').waitFor()
  await world.platform.call('POST', `/commands/executions/${id}/cancel`)
  await row.getByText('Cancelled').waitFor()
})

test('executions are filtered by the title of the command; a user without a command types its id', async (t) => {
  await execute('wait', { reason: 'a look of the auditor' })
  for (const role of ['admin', 'auditor'] as const) {
    const page = await world.open(t, 'executions', { role })
    await page.getByRole('table').waitFor()
    await filterBy(page, 'Command', 'Wait for a long time')
    await page.waitForURL('**/executions?command_id=wait')
  }
  const other = await world.open(t, 'executions', { role: 'service' })
  await other.getByRole('button', { name: 'Add filter' }).waitFor()
  await filterByText(other, 'Command', 'wait')
  await other.waitForURL('**/executions?command_id=wait')
})

test('only the roles of the policy decide on a request', async (t) => {
  const page = await world.open(t, `executions/${await execute('wait', { reason: 'x' })}`, {
    role: 'auditor',
  })
  await page.getByText('Only these roles decide: Administrator.').waitFor()
  const execution = drawer(page, 'Wait for a long time')
  await execution.getByText('What would run').waitFor()
  const link = execution.getByRole('link', { name: 'wait', exact: true })
  assert.equal(await link.getAttribute('href'), '/console/command-policy/wait', 'the auditor may not run it')
  assert.equal(await page.getByRole('button', { name: /Approve|Reject/ }).count(), 0)
})

test('a request names who asks to every role; the navigation counts only what the user decides', async (t) => {
  const page = await world.open(t, 'executions')
  const read = async (path: string) =>
    ((await (await world.platform.call('GET', path)).json()) as { items: { id: string; name?: string }[] })
      .items
  const own = (await read('/users')).find(({ name }) => name === 'the-admin')?.id ?? ''
  const count = (await read('/commands/executions?status=awaiting_approval')).length + 1
  const body = { reason: 'a request of an admin' }
  await world.platform.call('POST', '/commands/wait/execute', { user: own, body })
  await execute('wait', { reason: 'a request of another' })
  const link = (of: Page, name: string) => of.getByRole('navigation').getByRole('link', { name, exact: true })
  await link(page, `Executions ${count} await approval`).waitFor()
  const auditor = await world.open(t, 'executions?status=awaiting_approval', { role: 'auditor' })
  await auditor.getByRole('row').filter({ hasText: body.reason }).filter({ hasText: 'the-admin' }).waitFor()
  await link(auditor, 'Executions').waitFor()
})

test('a request is rejected with a comment, by keyboard alone', async (t) => {
  await execute('wait', { reason: 'a second test' })
  const page = await world.open(t, 'executions?status=awaiting_approval')
  await page.getByRole('row').filter({ hasText: 'a second test' }).filter({ hasText: 'tester' }).waitFor()
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Executions \d+ await approval$/ })
    .waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await drawer(page, 'Wait for a long time').getByText('Only these roles decide: Administrator.').waitFor()
  await drawer(page, 'Wait for a long time').getByText('sh -c "echo waiting; exec sleep 600"').waitFor()
  await assertLooks(page, 'executions-awaiting')
  await drawer(page, 'Wait for a long time').getByRole('button', { name: 'Reject' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Reject' })
  await dialog.getByLabel('Comment').press('x')
  await dialog.getByRole('button', { name: 'Reject' }).press('Enter')
  await drawer(page, 'Wait for a long time').getByRole('list', { name: 'Decisions' }).getByText('x').waitFor()
})

test('an approval that the policy has overtaken says so, and the request is shown as cancelled', async (t) => {
  const id = await execute('wait', { reason: 'overtaken' })
  const page = await world.open(t, `executions/${id}`)
  const shown = drawer(page, 'Wait for a long time')
  await shown.getByRole('button', { name: 'Approve' }).click()
  await page.route(`**/commands/executions/${id}/approve`, (route) =>
    route.fulfill({ status: 409, json: { code: 'no_longer_allowed', message: 'cancelled' } }),
  )
  await page.route(`**/commands/executions/${id}`, async (route) => {
    const execution = (await (await route.fetch()).json()) as object
    const ended = { status: 'cancelled', status_reason: 'no_longer_allowed', approvers: null }
    await route.fulfill({ json: { ...execution, ...ended } })
  })
  await page.getByRole('dialog', { name: 'Approve' }).getByRole('button', { name: 'Approve' }).click()
  await page.getByText('may not run this command any more, so it was cancelled.').waitFor()
  await shown.getByText('Cancelled', { exact: true }).waitFor()
  await shown.getByText('Why it never started').waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
})

test('hostile values are shown as text, also in the output', async (t) => {
  const body = { reason: `${HOSTILE}${'x'.repeat(900)}`, params: { text: HOSTILE } }
  const page = await world.open(t, `executions/${await execute('mischief', body)}`)
  const shown = drawer(page, 'Write hostile text')
  await shown.getByText(HOSTILE.slice(0, 40)).first().waitFor()
  await shown.getByRole('log').getByText(HOSTILE.slice(0, 40)).waitFor()
  await assertLooks(page, 'executions-hostile')
})

test('a role without a command sees none, and an execution that cannot be read is described', async (t) => {
  const page = await world.open(t, 'commands', { role: 'auditor' })
  await page.getByText('There is no command that you may run.').waitFor()
  await page.goto(`${world.platform.url}/console/commands/greet`)
  await page.getByText('There is no such command, or you may not run it.').waitFor()
  await page.goto(`${world.platform.url}/console/executions/unknown`)
  await page.getByRole('alert').waitFor()
})

test('the settings show where each value comes from, and no secret', async (t) => {
  const page = await world.open(t, 'settings')
  const table = page.getByRole('region', { name: 'Settings in effect' })
  await table.getByRole('row', { name: /^api\.rate_limit .+ 0 environment API_RATE_LIMIT$/ }).waitFor()
  await table.getByRole('row', { name: /^auth\.jwt_secret .+ \*\*redacted\*\*/ }).waitFor()
  await page.getByText(/^The configuration file is .\/\S+\/platform\.toml.\.$/).waitFor()
  assert.ok(!(await page.content()).includes(SECRET))
  await assertLooks(page, 'settings')
  await page.keyboard.press('/')
  await page.keyboard.type('no such setting')
  await page.getByText('No setting matches.').waitFor()
  await page.getByRole('searchbox').fill('time zone')
  await table.getByText('backup.time_zone').waitFor()
  await page.getByText(/in the time zone of your browser, \S+\./).waitFor()
  await page.getByRole('searchbox').fill('rate_limit')
  await page.getByLabel('Only settings that differ').check()
  await table.getByText('api.rate_limit').waitFor()
  assert.equal(await table.getByText('Default', { exact: true }).count(), 0)
  const auditor = await world.open(t, 'settings', { role: 'auditor', language: 'zh' })
  await auditor.getByText('页面不存在，或您的角色无权访问。').waitFor()
})

test('each setting is described in Chinese, too', async (t) => {
  const described = Object.keys(SETTING_TABLE).filter((key) => CHINESE_DESCRIPTIONS[key] === undefined)
  assert.deepEqual(described, [])
  const page = await world.open(t, 'settings', { language: 'zh' })
  await page.getByRole('region', { name: /^登录/ }).getByText('签发的 JWT 的有效期，最长 30 天。').waitFor()
  await assertLooks(page, 'settings-zh')
})

test('each built-in command and each of its parameters is described in Chinese, too', async (t) => {
  const answer = await world.platform.call('GET', '/commands?all=true')
  const { items } = (await answer.json()) as { items: { id: string; params: { properties: object } }[] }
  const builtIn = items.filter(({ id }) => id.includes('.'))
  assert.deepEqual(
    builtIn.map(({ id, params }) => [id, Object.keys(params.properties)]),
    builtIn.map(({ id }) => [id, Object.keys(BUILT_IN_ZH[id]?.params ?? {})]),
  )
  const page = await world.open(t, 'commands/data.prune', { language: 'zh' })
  await page.getByText('保留的备份数量。').waitFor()
})

test('a setting is found by keyboard alone', async (t) => {
  const page = await world.open(t, 'orders')
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press(',')
  await page.getByRole('table').first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('api.')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  const table = page.getByRole('region', { name: 'Settings in effect' })
  await table.getByText('api.rate_limit').waitFor()
  assert.equal(await table.getByText('Default', { exact: true }).count(), 0)
  await page.keyboard.press('Tab')
  await page
    .getByRole('region', { name: /^API \d+ settings?$/ })
    .and(page.locator(':focus'))
    .waitFor()
})
