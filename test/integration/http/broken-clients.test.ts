import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { breakClients, clientFaults } from '../../support/broken-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { openApi } from './client.ts'
import { exchange } from './raw-socket.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const ADMIN = 'Host: localhost\r\nX-User-ID: tester\r\nX-User-Roles: admin\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const faults = async () =>
  clientFaults((await api.send({ method: 'GET', path: '/metrics', headers: {} })).text)

test('a client that leaves in the middle of its body is an outcome of its own, and no error', async () => {
  const before = await faults()
  const { hostname, port } = new URL(api.platform.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = `POST /orders HTTP/1.1\r\n${ADMIN}X-Request-Id: left-1\r\nContent-Type: application/json`
  socket.write(`${head}\r\nContent-Length: 100\r\n\r\n{"order_id":`)
  socket.resetAndDestroy()
  const line = await eventually('its line', () =>
    api.platform.logs().find((each) => each['request_id'] === 'left-1'),
  )
  assert.deepEqual([line.level, line.message, line['status']], ['info', 'request', 499])
  assert.equal(await faults(), before + 1)
  const { text } = await api.send({ method: 'GET', path: '/metrics', headers: {} })
  assert.match(text, /http_request_seconds_count\{method="POST",route="\/orders",status="499"\} 1/)
})

test('a hundred broken clients are counted, and none of them is an error', async () => {
  const before = await faults()
  await breakClients(api.platform.url, ADMIN)
  await eventually('all are counted', async () => (await faults()) >= before + 48)
  assert.deepEqual(
    api.platform.logs().filter(({ level }) => level === 'error'),
    [],
  )
})

for (const [what, last, status] of [
  ['bytes that are no HTTP', '%%%\r\n\r\n', 400],
  ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
  [
    'a body that breaks off',
    `POST /orders HTTP/1.1\r\n${ADMIN}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
    400,
  ],
] as const)
  test(`requests are answered before ${what}`, async () => {
    const get = `GET /orders?limit=1 HTTP/1.1\r\n${ADMIN}\r\n`
    const answers = await exchange(api.platform.url, `${get.repeat(20)}${last}`)
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [...Array<number>(20).fill(200), status],
    )
  })
