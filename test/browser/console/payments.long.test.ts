import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildModules } from '../../../scripts/build-client.ts'
import { DAY } from '../../../src/kernel/time.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/loopback.ts'
import { startPayChannels } from '../../support/pay-channels.ts'
import { runPlatform, temporaryDirectory } from '../../support/platform.ts'
import { openPage, startBrowser } from '../browser.ts'
import { assertLook, assertLooks, consoleWorld } from './console-world.ts'

const resources = new AsyncDisposableStack()
after(() => resources.disposeAsync())
const { path: directory } = resources.use(temporaryDirectory())
const port = await freePort()
const publicUrl = `http://127.0.0.1:${port}`
const { mock, toml, pay } = resources.use(await startPayChannels(directory, publicUrl))

let dataDir = ''
const world = consoleWorld(
  { LISTEN_ADDR: `127.0.0.1:${port}` },
  {
    prepare: async (path) => void (dataDir = path),
    toml,
  },
)

interface Payment {
  readonly id: string
  readonly action: { readonly url: string }
}

async function post<T>(path: string, body: unknown): Promise<T> {
  return (await (await world.platform.call('POST', path, { body })).json()) as T
}

const newOrder = (order_id: string) => post('/orders', { order_id, platform: 'live', amount_cents: 4_990 })
const take = (order: string, channel: string) => post<Payment>(`/orders/${order}/payments`, { channel })

async function paid(order: string, channel = 'stripe'): Promise<string> {
  await newOrder(order)
  const { id, action } = await take(order, channel)
  await pay(action.url)
  await eventually(`${order} is paid`, async () => (await statusOf(id)) === 'paid')
  return id
}

async function statusOf(id: string): Promise<string> {
  const answer = await world.platform.call('GET', `/payments/${id}`)
  return ((await answer.json()) as { status: string }).status
}

test('an order is paid by the code that its page shows; the payment is refunded in part', async (t) => {
  await newOrder('shown-1')
  const page = await world.open(t, 'orders/shown-1')
  await page.getByRole('button', { name: 'Take a payment' }).waitFor()
  await page.keyboard.press('1')
  assert.equal(await page.locator(':focus').textContent(), 'Mark as paid')
  await page.getByRole('button', { name: 'Take a payment' }).click()
  await page.getByLabel('Channel').selectOption('wechat')
  await page.getByRole('dialog').getByRole('button', { name: 'Take a payment' }).click()
  await page.getByRole('img', { name: 'QR code for the payer' }).waitFor()
  await assertLooks(page, 'payment-code')
  await pay((await page.getByText(`${mock.url}/pay/`).textContent()) ?? '')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: /49\.90 · Paid/ }).click()
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  await page.getByRole('textbox', { name: 'Amount' }).fill('99')
  await page.getByRole('textbox', { name: 'Reason' }).fill('broken')
  const send = page.getByRole('dialog').getByRole('button', { name: 'Refund' })
  await send.click()
  await page
    .getByText('The refund is on its way.')
    .or(page.locator('[aria-invalid="true"], [role=alert]'))
    .first()
    .waitFor()
  assert.equal(await page.getByText('The refund is on its way.').count(), 0)
  await assertLook(page, 'payment-refund-form')
  await page.getByRole('textbox', { name: 'Amount' }).fill('9.90')
  await send.click()
  await page.getByText(/9\.90 · Refunded/).waitFor()
  await page.locator('.object-actions').getByText('Partly refunded', { exact: true }).waitFor()
  await assertLooks(page, 'payment')
})

test('the payments that need a person are first, and are resolved', async (t) => {
  const id = await paid('wrong-1', 'ali')
  await paid('fine-1')
  const page = await world.open(t, 'payments', { language: 'zh' })
  await page.getByText('fine-1').first().waitFor()
  await assertLooks(page, 'payments-zh')
  const inList = page.getByRole('row').filter({ hasText: 'wrong-1' })
  await inList.getByText('金额不符').waitFor()
  await page.getByRole('link', { name: /^wrong-1, / }).click()
  await page.getByText(/支付金额与订单不符/).waitFor()
  assert.ok(page.url().endsWith(id))
  await page.getByText('49.91 CNY').waitFor()
  const overview = await world.open(t, 'overview')
  await overview.getByText('Payments that need a person').first().waitFor()
  await page.getByRole('button', { name: '标记为已处理' }).click()
  await page.getByLabel('处理说明').fill('已与客户核对')
  await page.getByRole('dialog').getByRole('button', { name: '标记为已处理' }).click()
  await page.getByText('这笔支付不再需要处理。').waitFor()
  await page.getByText(/已与客户核对/).waitFor()
  await page.getByRole('button', { name: '标记为已处理' }).waitFor({ state: 'detached' })
})

/** A report of Stripe with a payment that is not here. */
const REPORT = `reporting_category,customer_facing_amount,charge_id,source_id,payment_metadata[platform_payment],refund_metadata[platform_refund]
charge,12.34,ch_1,ch_1,${'0'.repeat(32)},
`

test('a day is compared, and its page shows both sides of each difference', async (t) => {
  const page = await world.open(t, 'reconciliations')
  await page.getByRole('button', { name: 'Reconcile a day' }).click()
  await page.getByLabel('Channel').selectOption('stripe')
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(Date.now() - DAY)
  await page.getByRole('textbox', { name: 'Day' }).fill(day)
  await page.getByRole('dialog').getByRole('button', { name: 'Reconcile a day' }).click()
  await page.getByRole('heading', { name: `stripe ${day}` }).waitFor()
  await page.getByText('Matched', { exact: true }).first().waitFor()
  writeFileSync(join(dataDir, 'report.csv'), REPORT)
  const given = ['--channel', 'stripe', '--date', day, '--file', 'report.csv']
  assert.equal((await runPlatform(['payments', 'reconcile', ...given], { dataDir })).code, 1)
  await page.goto(`${publicUrl}/console/reconciliations`)
  await page.getByRole('link', { name: day }).first().click()
  await page.getByRole('heading', { name: 'Missing here' }).waitFor()
  const inBooks = page.getByText('12.34 · Paid', { exact: true })
  assert.equal(await inBooks.getAttribute('title'), 'succeeded')
  await page.getByText(/of another installation with the same account/).waitFor()
  await assertLooks(page, 'reconciliation')
  await page.goto(`${publicUrl}/console/alerts`)
  await page.getByRole('link', { name: `The payments of ${day} on stripe are not reconciled` }).click()
  await page.getByRole('link', { name: /^Reconciliations of/ }).click()
  await page.getByRole('link', { name: day }).first().click()
  await page.getByRole('button', { name: 'Reconcile again' }).click()
  await page.getByText('Matched', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Reconcile again' }).waitFor({ state: 'detached' })
})

/** The checkout of the guide, as its readers would start it. */
async function startCheckout(): Promise<string> {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/payments.md'), 'utf8')
  const [, code = ''] = /^```js\n(\/\/ checkout\.mjs.*?)^```$/ms.exec(guide) ?? []
  const shop = join(directory, 'shop')
  const packageDirectory = join(shop, 'node_modules/backend-platform-client')
  mkdirSync(packageDirectory, { recursive: true })
  await buildModules(packageDirectory)
  const manifest = { type: 'module', exports: './index.js' }
  writeFileSync(join(packageDirectory, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(shop, 'checkout.mjs'), code)
  const { stdout: token } = await runPlatform(['token', 'issue', 'admin'], { dataDir })
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { PLATFORM_URL: publicUrl, PLATFORM_TOKEN: token.trim(), SHOP_URL: url }
  const child = spawn(process.execPath, ['checkout.mjs'], { cwd: shop, env, stdio: 'inherit' })
  resources.defer(() => void child.kill())
  await eventually('the shop', () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return url
}

test('the checkout of the guide sells a mug', async () => {
  const url = await startCheckout()
  const browser = await startBrowser()
  resources.defer(() => browser.close())
  const { page } = resources.use(await openPage(browser))
  await page.goto(url)
  await page.getByRole('button', { name: 'Buy the mug for 49.90' }).click()
  await page.getByRole('button', { name: 'Pay' }).click()
  await page.getByText('Thank you, the mug is yours.').waitFor()
  const [, id = ''] = /orders\/(web-[0-9a-f-]+)$/.exec(page.url()) ?? []
  const order = await (await world.platform.call('GET', `/orders/${id}`)).json()
  assert.partialDeepStrictEqual(order, { platform: 'web', status: 'paid', amount_cents: 4_990 })
})
