import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { assertLooks, consoleWorld } from './console-world.ts'

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end('{"taken":true}'))
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
after(() => receiver.close())
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

const world = consoleWorld(
  { WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8' },
  {
    toml: `
[receivers.chat]
kind = "generic"
url = "${url}"
[receivers.pager]
kind = "generic"
url = "http://127.0.0.1:1/away"
[[alerts.routes]]
match = { source = "shop*" }
receivers = ["chat"]
escalate = [{ after = "15m", receivers = ["pager"] }]
`,
  },
)

test('receivers are tested, and an alert shows where it goes', async (t) => {
  const page = await world.open(t, 'receivers')
  await page.getByRole('row', { name: /^chat/ }).getByText('Not used yet').waitFor()
  await page.getByRole('button', { name: 'Send a test to chat' }).click()
  await page.getByText(/chat.* has taken the test message/).waitFor()
  await page.getByRole('button', { name: 'Send a test to pager' }).click()
  await page.getByText(/pager.* has not taken the test message/).waitFor()
  const question = page.getByRole('form', { name: 'Where would this alert go?' })
  await question.getByLabel('Source').fill('shop.web')
  await question.getByRole('button', { name: 'Show where it goes' }).click()
  const answer = page.getByRole('list', { name: 'Where the alert would go now' })
  await answer.getByText('chat: notified at once').waitFor()
  await answer.getByText('pager: to be told unless').waitFor()
  const routes = page.getByRole('list', { name: 'Routes' })
  await routes.getByText('after 15 minutes without an acknowledgement').waitFor()
  assert.equal(await routes.getByText('(this alert)').count(), 1)
  await assertLooks(page, 'receivers')
  await page.goto(`${world.platform.url}/console/overview`)
  await page.getByText('Nobody is notified of alerts that no route matches').waitFor()

  const body = { source: 'shop.web', title: 'The shop is slow', level: 'HIGH' }
  const { id } = (await (await world.platform.call('POST', '/alerts/report', { body })).json()) as {
    id: string
  }
  const alert = await world.open(t, `alerts/${id}`)
  await alert.getByText('pager').first().waitFor()
  await assertLooks(alert, 'alert-route')
})

test('a webhook is made, tested and rotated; its secret is shown once; the audit trail has it', async (t) => {
  const page = await world.open(t, 'webhooks')
  await page.getByText('There are no webhooks.').waitFor()
  await page.getByRole('button', { name: 'New webhook' }).click()
  await page.getByLabel('Address').fill(url)
  await page.getByLabel('Subjects').fill('order.*, alert.*')
  await assertLooks(page, 'webhook-form')
  await page.getByRole('button', { name: 'Create the webhook' }).click()
  await page.getByText(/whsec_/).waitFor()
  await assertLooks(page, 'webhook-secret')
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send a test' }).click()
  await page
    .getByText(/· Delivered ·/)
    .first()
    .waitFor()
  await assertLooks(page, 'webhook')

  const audit = await world.open(t, 'audit')
  await audit.getByText('Send events to an endpoint').first().waitFor()
  await audit.getByText('Send an event that is only a test').first().waitFor()
  await assertLooks(audit, 'audit-webhook')
})

test('a user makes a token for a program on a page of its own, sees its text once, and revokes it', async (t) => {
  const page = await world.open(t, 'my-tokens')
  await page.getByText('No program has a token of yours.').waitFor()
  await assertLooks(page, 'my-tokens-empty')
  const main = page.getByRole('button', { name: 'New token' })
  assert.match(String(await main.getAttribute('class')), /\bbutton-main\b/)
  await main.click()
  await page.getByLabel('What it is for').fill('cash desk')
  await page.getByRole('dialog').getByRole('button', { name: 'New token' }).click()
  const token = await page.getByText(/^pat_[0-9A-Za-z]{40}$/).textContent()
  await assertLooks(page, 'my-tokens-text')
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText('never used').waitFor()
  await assertLooks(page, 'my-tokens')
  const me = () => fetch(`${world.platform.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await me()).status, 200)
  await page.getByRole('button', { name: 'Revoke the token cash desk?' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No program has a token of yours.').waitFor()
  assert.equal((await me()).status, 401)
})
