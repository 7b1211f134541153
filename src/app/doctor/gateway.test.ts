import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { test, type TestContext } from 'node:test'
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
  const web = await listening(
    t,
    createServer((request, response) => response.writeHead(404).end(`no ${request.url}`)),
  )
  const noHttp = await listening(
    t,
    createTcpServer((socket) => void socket.end('INFO {}\r\n')),
  )
  const silent = await listening(
    t,
    createTcpServer((socket) => void socket.destroy()),
  )
  const w = doctorWorld(t)
  await w.migrate()
  const detail = async (url: string) => {
    const env = { MODULE: 'gateway', GATEWAY_API_URL: url, JWT_SECRET: KEY }
    const [finding] = (await w.examine(env)).of('gateway')
    return [finding?.result, finding?.detail]
  }
  assert.deepEqual(await detail(other.gatewayUrl), ['error', 'is a gateway, not the api'])
  assert.deepEqual(await detail(web), [
    'error',
    "something other than the platform's api answers there (HTTP 404, without a type: no /auth/me)",
  ])
  assert.match(String(await detail(noHttp)), /^error,something other .* \(Response does not match the HTTP/)
  assert.match(String(await detail(silent)), /^error,does not speak this protocol: /)
  assert.match(
    String(await detail(other.url.replace('http:', 'https:'))),
    /^error,does not speak this protocol: /,
  )
})

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

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
