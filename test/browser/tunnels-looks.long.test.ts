import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { TOKENS } from '../support/tunnels-double.ts'
import { someSessions, tunnelsAnswer } from '../support/tunnels-sample.ts'
import { assertLooks } from './console/console-world.ts'
import { contrasts, namelessRoles, sidewaysScroll } from './page-checks.ts'
import { alert, FIVE, nodes, open, openSignedIn, PATIENCE, PHONE, signInWithToken } from './tunnels-world.ts'

// Everything that is written small or in a colour of its own.
const TEXTS = [
  '.muted, .stat-name, .stat-value, .badge, .cell-main, .cell-note, .hint, .sort, .link, .button, .liveness',
  '.hub-name, .user-name, .address-ip, .node-note, .edge-time, .field, .notice-text',
].join(', ')

// The name of a node says in words what its few texts and its marks show.
const SKIPPED_RULES = ['label-content-name-mismatch']

for (const colorScheme of ['light', 'dark'] as const) {
  describe(`in ${colorScheme}`, () => {
    test('text is easily read', async (t) => {
      const { double, page } = await openSignedIn(t, FIVE, { colorScheme })
      const pool = { cidr: '100.64.0.0/28', size: 13, used: 13, cooling: 0, free: 0 }
      double.state = tunnelsAnswer(FIVE, { pool })
      await page.getByText('nearly exhausted').waitFor()
      const seen = await contrasts(page, TEXTS)
      assert.ok(seen.length > 40, `${seen.length} texts`)
      assert.deepEqual(
        seen.filter(({ ratio }) => ratio < 4.5),
        [],
      )
    })

    test('the sign-in form is easily read', async (t) => {
      const { page } = await open(t, { colorScheme })
      await signInWithToken(page, 'unknown')
      await alert(page, /does not accept/).waitFor()
      const seen = await contrasts(page, TEXTS)
      assert.ok(seen.length >= 6)
      assert.deepEqual(
        seen.filter(({ ratio }) => ratio < 4.5),
        [],
      )
    })
  })
}

test('light and dark follow the reader’s system', async (t) => {
  const { page } = await open(t, { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.notEqual(await ground(), light)
})

test('a reader chooses the colours, and finds them again after a reload', async (t) => {
  const { page } = await openSignedIn(t, FIVE, { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.getByLabel('Colours').selectOption('Dark')
  const dark = await ground()
  assert.notEqual(dark, light)
  await page.reload()
  await nodes(page).first().waitFor()
  assert.equal(await ground(), dark)
})

test('the page is in Chinese when the reader chooses it, and in English again', async (t) => {
  const { double, page } = await open(t)
  await page.getByRole('button', { name: '中文' }).click()
  await page.getByText('令牌', { exact: true }).first().click()
  await page.getByRole('textbox', { name: '令牌' }).fill(TOKENS.reader)
  await page.getByRole('button', { name: '登录', exact: true }).click()
  await nodes(page, /^网关 primary，运行中，4 个会话：2 快，1 一般，1 测量中/).waitFor()
  assert.equal(await page.title(), '5 条隧道已打开')
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN')
  const data = /ada|boris|clara|kofi|laptop|phone|desktop|primary|standby|ms|English|Live/g
  assert.deepEqual((await page.locator('body').innerText()).replace(data, '').match(/[A-Za-z]+/g), null)
  await assertLooks(page, 'tunnels-zh', SKIPPED_RULES)
  double.state = tunnelsAnswer([])
  await page.getByText('没有打开的隧道').waitFor()
  await page.getByLabel('语言').selectOption('English')
  await page.getByText('No tunnel is open').waitFor()
})

test('axe finds nothing on the map, without sessions, and without the role', async (t) => {
  const { double, page } = await openSignedIn(t)
  await nodes(page, /^kofi,/).click()
  await assertLooks(page, 'tunnels', SKIPPED_RULES)
  double.state = tunnelsAnswer([])
  await page.getByText('No tunnel is open').waitFor()
  await assertLooks(page, 'tunnels-empty', SKIPPED_RULES)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signInWithToken(page, TOKENS.stranger)
  await alert(page, /admin, devops or auditor/).waitFor()
  await assertLooks(page, 'tunnels-forbidden')
})

test('who does not want motion gets none, and everybody else gets a little', async (t) => {
  const { page } = await openSignedIn(t)
  const duration = () =>
    page.evaluate(() => {
      const node = document.querySelector('.node')
      return node ? parseFloat(getComputedStyle(node).transitionDuration) : NaN
    })
  await nodes(page).first().waitFor()
  assert.equal(await duration(), 0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  assert.ok((await duration()) > 0)
})

const WINDOWS = [PHONE, { width: 768, height: 1_024 }, { width: 1_280, height: 720 }]
const CROWDS = [
  { what: 'no session', sessions: [] },
  { what: '5 sessions', sessions: FIVE },
  { what: '500 sessions', sessions: someSessions(500, 120) },
]

for (const { what, sessions } of CROWDS) {
  test(`${what}: in no window sideways scrolling, and a name for everything`, async (t) => {
    const { page } = await openSignedIn(t, sessions)
    await nodes(page).first().waitFor()
    for (const viewport of WINDOWS) {
      await page.setViewportSize(viewport)
      await eventually(
        `it fits ${viewport.width} pixels`,
        async () => (await sidewaysScroll(page)) === 0,
        PATIENCE,
      )
      assert.deepEqual(await namelessRoles(page), [])
    }
  })
}

test('the sign-in form fits a phone, and has a name for everything', async (t) => {
  const { page } = await open(t, { viewport: PHONE })
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  assert.equal(await sidewaysScroll(page), 0)
  assert.deepEqual(await namelessRoles(page), [])
})
