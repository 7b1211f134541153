import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTING_TABLE } from '../../../src/config/schema.ts'
import { describeConfig } from '../../../src/config/config.ts'
import { configRoute } from '../../../src/infra/http/operations.ts'
import { alignColumns } from '../../../src/kernel/text.ts'
import { configFiles } from '../../support/config-files.ts'
import { startRouteServer } from '../../support/route-server.ts'
import { testStore } from '../../support/store.ts'
import { systemClock } from '../../../src/kernel/clock.ts'

const files = configFiles()

const TOML = `
orders.expiry = "20m"
alerts.robot.kind = "slack"
alerts.robot.url = "https://hooks.example.com/services/secret-path"
`
const ENVIRONMENT = {
  JWT_SECRET: 'a-signing-key-that-nobody-may-read-0123456789',
  DATABASE_URL: 'postgres://platform:secret-password@db/platform',
}

interface ConfigAnswer {
  readonly file: string | null
  readonly items: readonly {
    readonly key: string
    readonly value: string
    readonly source: string
    readonly description: string | null
  }[]
}

async function readConfig(role: 'admin' | 'devops') {
  const loaded = files.load(TOML, ENVIRONMENT)
  await using world = await testStore('sqlite')
  const routes = [configRoute({ settings: loaded.settings, file: '/etc/platform/platform.toml' })]
  await using server = await startRouteServer({ store: world.store, clock: systemClock, routes })
  const response = await server.send('GET', '/config', { role })
  return { loaded, status: response.status, text: await response.text() }
}

test('GET /config has the keys, values and sources that platform config prints', async () => {
  const { loaded, status, text } = await readConfig('admin')
  assert.equal(status, 200)
  const { file, items } = JSON.parse(text) as ConfigAnswer
  const rows = items.map(({ key, value, source }) => [key, value, source])
  assert.equal(alignColumns([['KEY', 'VALUE', 'SOURCE'], ...rows]), describeConfig(loaded))
  assert.equal(file, '/etc/platform/platform.toml')
  const { description, ...expiry } = items.find(({ key }) => key === 'orders.expiry') ?? {}
  assert.deepEqual(expiry, { key: 'orders.expiry', value: '20m', source: 'file platform.toml:2' })
  assert.equal(description, SETTING_TABLE['orders.expiry']?.description)
})

test('GET /config has no secret', async () => {
  const { text } = await readConfig('admin')
  for (const secret of ['nobody-may-read', 'secret-password', 'secret-path'])
    assert.ok(!text.includes(secret))
})

test('only an admin may read the settings', async () => {
  assert.equal((await readConfig('devops')).status, 403)
})
