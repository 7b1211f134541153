import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { someSessions, tunnelsAnswer } from '../support/tunnels-sample.ts'
import { contrasts, namelessRoles, sidewaysScroll } from './page-checks.ts'
import { alert, FIVE, nodes, open, openSignedIn, PATIENCE, PHONE, signInWithToken } from './tunnels-world.ts'

// Everything that is written small or in a colour of its own.
const TEXTS = [
  '.muted, .stat-name, .stat-value, .badge, .cell-main, .cell-note, .hint, .sort, .link, .button, .liveness',
  '.hub-name, .user-name, .address-ip, .node-note, .edge-time, .field, .notice-text',
].join(', ')

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
