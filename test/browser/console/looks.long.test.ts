import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY } from '../../../src/kernel/time.ts'
import { eventually } from '../../support/eventually.ts'
import { createJumpingClock, missingFaketime } from '../../support/jumping-clock.ts'
import { freePort } from '../../support/loopback.ts'
import { startPayChannels } from '../../support/pay-channels.ts'
import { temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import { liveWeek, SHOP_TOML } from '../../support/shop-week.ts'
import { assertLook, connectVpn, consoleWorld } from './console-world.ts'

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const { path: directory } = resources.use(temporaryDirectory())
const clock = createJumpingClock(join(directory, 'clock'))
const port = await freePort()
const channels = resources.use(await startPayChannels(directory, `http://127.0.0.1:${port}`))
const world = consoleWorld(
  { ...clock.env, LISTEN_ADDR: `127.0.0.1:${port}` },
  {
    toml: SHOP_TOML + channels.toml,
    async fill(platform) {
      await liveWeek(platform, clock)
      await takePayments(platform)
    },
  },
)

/** One payment is of another amount than its order, one is paid, one is open, and a day is compared. */
async function takePayments(platform: ServedPlatform): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await platform.call('POST', path, { body })
    assert.ok(answer.ok, path)
    return (await answer.json()) as { readonly action: { readonly url: string } }
  }
  const statusOf = async (order: string) => {
    const answer = await platform.call('GET', `/payments?order_id=${order}`)
    return ((await answer.json()) as { items: { status: string }[] }).items[0]?.status
  }
  for (const channel of ['ali', 'wechat', 'stripe']) {
    const order_id = `paid-by-${channel}`
    await post('/orders', { order_id, platform: 'live', amount_cents: 4_990 })
    const { action } = await post(`/orders/${order_id}/payments`, { channel })
    if (channel === 'stripe') continue
    await channels.pay(action.url)
    await eventually(`${order_id} is paid`, async () => (await statusOf(order_id)) === 'paid')
  }
  const date = new Date(Date.now() - 2 * DAY).toISOString().slice(0, 10)
  await post('/payments/reconciliations', { channel: 'stripe', date })
}

const PAGES = [
  'overview',
  'my-work',
  'my-tokens',
  'orders',
  'payments',
  'reconciliations',
  'messages',
  'alerts',
  'silences',
  'receivers',
  'heartbeats',
  'tickets',
  'tickets?view=board',
  'commands',
  'executions',
  'command-policy',
  'menus',
  'certificates',
  'data-backups',
  'vpn-sessions',
  'vpn-audit',
  'audit',
  'telemetry',
  'webhooks',
  'users',
  'settings',
]

const WIDE = { width: 1_440, height: 900 }
const PHONE = { width: 390, height: 844 }
const LOOKS = [
  { viewport: WIDE, colorScheme: 'light' },
  { viewport: WIDE, colorScheme: 'dark' },
  { viewport: PHONE, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
] as const
const LIST_OBJECT = '.row-link'

/** Nothing says any more that it is being read. */
const loaded = (page: Page) =>
  eventually(
    'it is loaded',
    async () => (await page.locator('.state-loading, [aria-busy="true"]').count()) === 0,
  )

/** What cannot be taken back is behind all other buttons of an object. */
async function assertDestructiveLast(page: Page, name: string): Promise<void> {
  const wrong = page.locator('.object-actions > .button-danger ~ .button:not(.button-danger)')
  assert.deepEqual(await wrong.allTextContents(), [], name)
}

for (const language of ['en', 'zh'] as const) {
  test(
    `each page with a week of a shop, wide and on a phone, in ${language}`,
    { skip: missingFaketime() },
    async (t) => {
      for (const device of ['laptop', 'phone']) await connectVpn(t, world.platform, 'vera', device)
      const page = await world.open(t, '', { language })
      for (const path of PAGES) {
        const name = path.replaceAll(/\W+/g, '-')
        await page.setViewportSize(WIDE)
        await page.goto(`${world.platform.url}/console/${path}`)
        await page.locator('main h1').waitFor()
        await loaded(page)
        for (const look of LOOKS) await assertLook(page, `week-${language}-${name}`, look)
        await page.setViewportSize(WIDE)
        const first = page.locator(LIST_OBJECT).first()
        if ((await first.count()) === 0) continue
        await first.click()
        await loaded(page)
        await assertDestructiveLast(page, name)
        for (const look of LOOKS) await assertLook(page, `week-${language}-${name}-object`, look)
      }
    },
  )
}

test('on a phone a menu at the edge opens in the window, and the list of keys at its beginning', async (t) => {
  const page = await world.open(t, 'orders', { viewport: PHONE })
  await page.locator(LIST_OBJECT).first().waitFor()
  for (const name of ['Views', 'Columns']) {
    await page.getByRole('button', { name, exact: true }).click()
    const panel = await page.getByRole('dialog', { name }).boundingBox()
    assert.ok(panel && panel.x >= 0 && panel.x + panel.width <= PHONE.width, name)
    assert.equal(await page.evaluate(() => document.documentElement.scrollLeft), 0, name)
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('?')
  assert.equal(await page.getByRole('dialog').evaluate(({ scrollTop }) => scrollTop), 0)
})
