import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { after, test } from 'node:test'
import { doctorChecks } from '../../../console/pages/console/overview/doctor-checks.ts'
import { startNats } from '../../support/nats.ts'
import { writeShopDay } from '../../support/shop-day.ts'
import { connectVpn, consoleWorld, takePicture } from './console-world.ts'

const bus = await startNats({ jetstream: true })
let ordersOfTheDay = 0
const world = consoleWorld(
  { BUS_SERVER: bus.url },
  {
    async prepare(dataDir) {
      // What the doctor finds.
      chmodSync(dataDir, 0o755)
      ordersOfTheDay = await writeShopDay(dataDir)
    },
  },
)

after(() => bus.stop())

const REPORTS = [
  { path: '/alerts/report', body: { source: 'shop.web', title: 'The shop is slow', level: 'HIGH' } },
  { path: '/alerts/report', body: { source: 'shop.disk', title: 'The disk fills up', level: 'WARNING' } },
  { path: '/tickets', body: { title: 'The printer is out of paper', level: 'low' } },
  { path: '/tickets', body: { title: 'A parcel was returned', level: 'medium' } },
  { path: '/tickets', body: { title: 'The price list is old', level: 'low' } },
  { path: '/data/backups', body: {} },
] as const

test('the overview shows a day of orders that was recorded before', async (t) => {
  for (const { path, body } of REPORTS) {
    const answer = await world.platform.call('POST', path, { body })
    assert.ok(answer.ok, `POST ${path}: ${answer.status} ${await answer.text()}`)
  }
  await connectVpn(t, world.platform, 'vera', 'laptop')
  await connectVpn(t, world.platform, 'boris', 'desktop')
  const page = await world.open(t, 'overview')
  await page.setViewportSize({ width: 1_280, height: 900 })
  await page
    .getByRole('row', { name: /^Pending/ })
    .getByText(String(ordersOfTheDay), { exact: true })
    .waitFor()
  for (const status of ['Paid', 'Shipped', 'Completed', 'Expired']) {
    const inPeriod = page
      .getByRole('row', { name: new RegExp(`^${status}`) })
      .getByRole('cell')
      .nth(1)
    assert.match((await inPeriod.textContent()) ?? '', /^[1-9]/, status)
  }
  const chart = page.getByRole('slider', { name: 'Orders over time' })
  await chart.focus()
  for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  assert.equal(await chart.getAttribute('aria-valuenow'), '2')
  await chart.hover()
  await page.getByRole('columnheader', { name: /^\d\d:\d\d$/ }).waitFor()
  await page.getByRole('link', { name: '1 High', exact: true }).waitFor()
  await chart.blur()
  await page.evaluate(() => scrollTo(0, 0))
  const part = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await part('Data backup').getByText('Completed').waitFor()
  await part('Waiting messages').getByText('0', { exact: true }).waitFor()
  await page.getByText(/^[A-Z][a-z ]+ · .*every user can look into it/).waitFor()
  const report = await (await world.platform.call('GET', '/doctor')).json()
  const { findings } = report as { findings: { check: string }[] }
  const checks = new Set(findings.map(({ check }) => check))
  assert.deepEqual([...checks.difference(new Set(Object.keys(doctorChecks())))], [])
  await takePicture(page, 'overview')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('.course-table').scrollIntoViewIfNeeded()
  await takePicture(page, 'overview-orders-360-dark')
  await page.getByRole('link', { name: 'Unclosed tickets' }).click()
  await page.getByRole('region', { name: 'Open', exact: true }).getByText('The price list is old').waitFor()
})
