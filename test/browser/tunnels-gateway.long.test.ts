import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVpnClient } from '../../programs/vpn-client/index.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { alert, nodes, openAt } from './tunnels-world.ts'

const PASSWORD = 'a long word for the tests'

test('the gateway itself shows a client that connects, and forgets it when it goes', async (t) => {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory()).path
  const platform = scope.use(await servePlatform({ dataDir: directory }))
  const gateway = platform.gatewayUrl
  for (const [name, role] of [
    ['olga', 'auditor'],
    ['kiosk', 'service'],
  ]) {
    const made = await platform.call('POST', '/users', { body: { name, password: PASSWORD, roles: [role] } })
    assert.equal(made.status, 201)
  }

  const page = await openAt(t, gateway)
  await page.getByLabel('Name', { exact: true }).fill('olga')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('No tunnel is open').waitFor()

  const token = await tokenOf(gateway, 'kiosk')
  const client = createVpnClient({
    gateways: [gateway],
    readToken: () => new Secret(token),
    device: 'till-1',
  })
  scope.defer(() => client.stop())
  await nodes(page, /^kiosk, 1 session/).waitFor()
  await nodes(page, /^\d+\.\d+\.\d+\.\d+, till-1, /).waitFor()
  assert.equal(await page.title(), '1 tunnel open')

  await client.stop()
  await page.getByText('No tunnel is open').waitFor()
})

test('the gateway itself shows its tunnels to nobody without the role', async (t) => {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory()).path
  const platform = scope.use(await servePlatform({ dataDir: directory }))
  const body = { name: 'kiosk', password: PASSWORD, roles: ['service'] }
  assert.equal((await platform.call('POST', '/users', { body })).status, 201)
  const page = await openAt(t, platform.gatewayUrl)
  await page.getByLabel('Name', { exact: true }).fill('kiosk')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await alert(page, /admin, devops or auditor/).waitFor()
})

async function tokenOf(gateway: string, username: string): Promise<string> {
  const answer = await fetch(`${gateway}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORD }),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  return access_token
}
