import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { CertificateAuthority } from '../support/certificates.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const PASSWORD = 'five quiet otters'
const DAY = 86_400_000

test('api and gateway speak TLS, and gateways reach the api in their process and in another one', async (t) => {
  const scope = scopeOf(t)
  const authority = scope.use(new CertificateAuthority())
  const times = { from: Date.now() - DAY, to: Date.now() + 10 * DAY }
  const { pem: ca, path, keyPath } = await authority.issue({ names: ['IP:127.0.0.1'], ...times })
  const ofGateway = { GATEWAY_TLS_CERT_FILE: path, GATEWAY_TLS_KEY_FILE: keyPath }
  const ofApi = { API_TLS_CERT_FILE: path, API_TLS_KEY_FILE: keyPath }
  const dataDir = scope.use(temporaryDirectory()).path
  const platform = scope.use(
    await servePlatform({ dataDir, modules: 'api,gateway', env: { ...ofApi, ...ofGateway } }),
  )
  const added = await runPlatform(['user', 'add', 'ada', '--role', 'admin'], {
    dataDir,
    input: `${PASSWORD}\n`,
  })
  assert.equal(added.code, 0, added.stderr)

  const send = async (url: string, method: string, target: string, headers = {}, body?: string) => {
    const sent = request(url.replace('http:', 'https:') + target, { method, headers, ca, agent: false })
    const [response] = await once(sent.end(body), 'response')
    return { status: response.statusCode as number, body: (await json(response)) as Record<string, unknown> }
  }
  const credentials = JSON.stringify({ username: 'ada', password: PASSWORD })
  const type = { 'content-type': 'application/json' }
  const { body } = await send(platform.gatewayUrl, 'POST', '/auth/login', type, credentials)
  const authorization = { authorization: `Bearer ${String(body['access_token'])}` }
  assert.equal((await send(platform.url, 'GET', '/auth/me', authorization)).body['name'], 'ada')

  const socket = new WebSocket(`${platform.gatewayUrl.replace('http', 'wss')}/vpn`, {
    headers: authorization,
    ca,
  })
  const [frame] = await once(socket, 'message')
  assert.equal(JSON.parse(String(frame)).type, 'session')
  socket.terminate()

  const env = {
    LISTEN_ADDR: '0.0.0.0:0',
    GATEWAY_NAME: 'another',
    GATEWAY_API_URL: platform.url.replace('http:', 'https:'),
    GATEWAY_API_CA_FILE: path,
  }
  const gateway = scope.use(await servePlatform({ dataDir, modules: 'gateway', env }))
  const me = await fetch(`${gateway.gatewayUrl}/auth/me`, { headers: authorization })
  assert.equal(me.status, 200)

  const soon = platform.logs().filter(({ message }) => message.includes('ends soon'))
  assert.deepEqual(new Set(soon.map((line) => line['setting'])), new Set(['api.tls', 'gateway.tls']))
  const plainOf = ({ logs }: typeof platform) =>
    logs().filter(({ message }) => message.includes('without TLS: '))
  assert.deepEqual([plainOf(platform).length, plainOf(gateway).length], [0, 1])
  const { stdout } = await runPlatform(['doctor'], {
    dataDir,
    env: { ...ofApi, MODULE: 'api', LISTEN_ADDR: platform.url.replace('http://', '') },
  })
  assert.match(stdout, /a platform answers/)
  assert.match(stdout, /its certificate ends at/)
  const health = await runPlatform(['health'], {
    dataDir,
    env: { ...ofApi, MODULE: 'api', LISTEN_ADDR: platform.url.replace('http://', '') },
  })
  assert.deepEqual([health.code, health.stdout], [0, 'ready\n'])
})
