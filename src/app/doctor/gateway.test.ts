import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { servePlatform, temporaryDirectory } from '../../../test/support/platform.ts'
import { doctorWorld } from '../../../test/support/doctor.ts'
import { scopeOf } from '../../../test/support/scope.ts'

const KEY = 'a key of both programs, 32 bytes or more'

test('a gateway whose api has another key is found', async (t) => {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  const env = { TRUSTED_PROXIES: 'none', JWT_SECRET: KEY }
  const api = scope.use(await servePlatform({ dataDir, modules: 'api', env }))
  const w = doctorWorld(t)
  await w.migrate()
  const findings = async (key: string) =>
    (await w.examine({ MODULE: 'gateway', GATEWAY_API_URL: api.url, JWT_SECRET: key }))
      .of('gateway')
      .map(({ result, detail }) => [result, detail])
  assert.deepEqual(await findings(KEY), [['ok', 'recognises this gateway']])
  assert.deepEqual(await findings(KEY.toUpperCase()), [
    ['error', 'does not recognise this gateway, so it refuses every request of a session'],
  ])
  await api.stop()
  assert.equal((await findings(KEY))[0]?.[0], 'warning')
})

test('a gateway that asks another gateway or another program is found', async (t) => {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  const other = scope.use(await servePlatform({ dataDir, modules: 'api,gateway', env: { JWT_SECRET: KEY } }))
  const web = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  t.after(() => web.close())
  await once(web, 'listening')
  const w = doctorWorld(t)
  await w.migrate()
  const detail = async (url: string) => {
    const env = { MODULE: 'gateway', GATEWAY_API_URL: url, JWT_SECRET: KEY }
    const [finding] = (await w.examine(env)).of('gateway')
    return [finding?.result, finding?.detail]
  }
  assert.deepEqual(await detail(other.gatewayUrl), ['error', 'is a gateway, not the api'])
  assert.deepEqual(await detail(`http://127.0.0.1:${(web.address() as AddressInfo).port}`), [
    'error',
    'is another program, not the api',
  ])
})

test('a platform that does not recognise the nightly routine is found', async (t) => {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  const env = { TRUSTED_PROXIES: 'none', JWT_SECRET: KEY }
  const api = scope.use(await servePlatform({ dataDir, modules: 'api', env }))
  const w = doctorWorld(t)
  const finding = async (key: string) => {
    const night = { BACKUP_DRIVE_API_URL: 'http://127.0.0.1:1', BACKUP_PLATFORM_API: api.url }
    const findings = (await w.examine({ ...night, JWT_SECRET: key })).of('backup')
    return findings.find(({ subject }) => subject.startsWith('backup.platform_api'))?.result
  }
  assert.equal(await finding(KEY), 'ok')
  assert.equal(await finding(KEY.toUpperCase()), 'error')
  await api.stop()
  assert.equal(await finding(KEY), 'warning')
})
