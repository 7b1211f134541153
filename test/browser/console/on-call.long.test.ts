import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../support/eventually.ts'
import { createJumpingClock, missingFaketime } from '../../support/jumping-clock.ts'
import { temporaryDirectory } from '../../support/platform.ts'
import { startRobots, type RobotDoubles } from '../../support/robots.ts'
import { startSmtp, type SmtpServer } from '../../support/smtp.ts'
import { assertLooks, consoleWorld } from './console-world.ts'

const GUIDE = new URL('../../../docs/guide/alerts.md', import.meta.url)
const MINUTE = 60_000
const TAKEN = 'has taken the test message.'
const PATIENCE = { timeoutMs: 180_000 }

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const directory = resources.use(temporaryDirectory()).path
const clock = createJumpingClock(join(directory, 'clock'))
let smtp: SmtpServer
let robots: RobotDoubles

/** The file of the guide's nine steps. */
function fileOfGuide(): string {
  const guide = readFileSync(GUIDE, 'utf8')
  const steps = guide.slice(guide.indexOf('**4. What does not run at all.**'))
  const [, toml] = /```toml\n([\s\S]*?)```/.exec(steps) ?? assert.fail('The guide has the file.')
  return toml?.replaceAll(/^ {3}/gm, '') ?? ''
}

const world = consoleWorld(missingFaketime() === undefined ? clock.env : {}, {
  async prepare(dataDir) {
    smtp = resources.use(await startSmtp())
    robots = resources.use(await startRobots())
    const secretFile = (name: string, text: string) =>
      writeFileSync(join(directory, name), text, { mode: 0o600 })
    secretFile('smtp', smtp.url('?tls.rejectUnauthorized=false'))
    secretFile('chat-url', robots.url('feishu'))
    // The other server of this test is this one.
    const toml = fileOfGuide()
      .replaceAll('/etc/platform', directory)
      .replace(/^\[console\]\nurl = .*\n/m, '')
    writeFileSync(join(dataDir, 'platform.toml'), toml)
  },
})

async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).last().click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** The address of the crontab's line. */
async function createHeartbeat(t: TestContext, page: Page): Promise<string> {
  await goTo(page, 'Heartbeats')
  await page.getByRole('button', { name: 'New heartbeat' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New heartbeat' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('other-server')
  // The shortest one, in the place of the guide's night.
  await dialog.getByRole('textbox', { name: 'Every' }).fill('30s')
  assert.notEqual(
    await dialog.getByRole('textbox', { name: 'Time zone' }).inputValue(),
    '',
    'that of the browser',
  )
  await assertLooks(page, 'on-call-heartbeat-form')
  await dialog.getByRole('button', { name: 'Create the heartbeat' }).click()
  const shown = page.getByRole('dialog', { name: 'The address for pings' })
  await shown.getByText('Other servers cannot call this address').waitFor()
  await assertLooks(page, 'on-call-address')
  const line =
    (await shown.locator('pre').allTextContents()).find((text) => text.includes('/path/to/job')) ?? ''
  t.diagnostic(line)
  await shown.getByRole('button', { name: 'I have copied it' }).click()
  return /curl \S+ -m 10 --retry 5 (\S+)\/\$\?$/.exec(line)?.[1] ?? assert.fail(line)
}

const subjects = () =>
  smtp.mails
    .map(({ source }) => /^Subject: (.*)\r$/m.exec(source)?.[1] ?? '')
    .filter((each) => !each.includes('Test'))
const chats = () =>
  robots.shown.map((text) => text.split('\n')[0] ?? '').filter((each) => !each.includes('Test'))

test(
  'a backup of another server that does not come is mailed at once, and told in a chat after 15 minutes',
  { skip: missingFaketime() ?? false },
  async (t) => {
    const page = await world.open(t, 'receivers')
    for (const name of ['mail', 'chat']) {
      const arrived = () => smtp.mails.length + robots.shown.length
      const before = arrived()
      await page.getByRole('button', { name: `Send a test to ${name}` }).click()
      await page.getByRole('status').filter({ hasText: TAKEN }).last().waitFor()
      await eventually('it has arrived', () => arrived() === before + 1)
    }
    await assertLooks(page, 'on-call-receivers')
    const address = await createHeartbeat(t, page)
    const heartbeat = page.getByRole('region', { name: 'other-server' })
    const told = heartbeat.getByRole('list', { name: 'Who is notified if it is missed' })
    await told.getByText('mail: notified at once').waitFor()
    await told.getByText(/^chat: /).waitFor()
    await assertLooks(page, 'on-call-heartbeat')

    assert.equal((await fetch(`${address}/0`)).status, 200)
    const missed = 'The heartbeat other-server was missed'
    await eventually('the mail comes', () => subjects().length === 1, PATIENCE)
    assert.match(subjects()[0] ?? '', new RegExp(`^FIRING \\[(HIGH|ERROR)\\] ${missed}$`))
    assert.deepEqual(chats(), [])
    await page.getByText('Missed', { exact: true }).first().waitFor()

    clock.set(clock.now() + 16 * MINUTE)
    await eventually('the chat has its message', () => chats().length === 1, PATIENCE)
    assert.match(chats()[0] ?? '', new RegExp(`^\\[ESCALATED .*\\] ${missed}$`))
    assert.equal(subjects().length, 1)

    assert.equal((await fetch(`${address}/0`)).status, 200)
    await eventually(
      'both are told of the end',
      () => subjects().length === 2 && chats().length === 2,
      PATIENCE,
    )
    for (const [, last] of [subjects(), chats()]) assert.match(last ?? '', /RECOVERED/)
    const alerts = await world.platform.call('GET', '/alerts?limit=1')
    const { items } = (await alerts.json()) as { items: { id: string }[] }
    await page.goto(`${world.platform.url}/console/alerts/${items[0]?.id ?? ''}`)
    const timeline = page.getByRole('region', { name: missed })
    await timeline.getByText('Escalated', { exact: false }).first().waitFor()
    await assertLooks(page, 'on-call-alert')
  },
)
