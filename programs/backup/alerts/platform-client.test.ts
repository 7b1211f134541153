import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { freePort } from '../../../test/support/loopback.ts'
import { startTicketApi, TICKET_API_FAULTS } from '../../../test/support/ticket-api.ts'
import { fakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import { PlatformClient, type PlatformCall } from './platform-client.ts'

const scope = new AsyncDisposableStack()
after(() => scope.disposeAsync())
const api = scope.use(await startTicketApi())
const client = scope.use(new PlatformClient({ url: api.url, clock: systemClock }))

const REPORT: PlatformCall = {
  method: 'POST',
  path: '/alerts/report',
  body: { title: 'Sicherung läuft' },
  idempotencyKey: 'key-1',
  ifMatch: '"3"',
  timeoutMs: 60 * SECOND,
}

const answering = (status: number, body = '', headers = {}) =>
  api.behave((response: ServerResponse) => void response.writeHead(status, headers).end(body))

test('a call carries the identity of a local tool, and no secret', async () => {
  api.behave(undefined)
  assert.deepEqual(await client.send(REPORT), { outcome: 'accepted', body: {}, etag: undefined })
  const { method, url, headers, body } = api.requests.at(-1) ?? assert.fail()
  assert.deepEqual([method, url, body], ['POST', '/alerts/report', JSON.stringify(REPORT.body)])
  assert.equal(headers['x-user-id'], 'platform-backup')
  assert.equal(headers['x-user-name'], 'platform-backup')
  assert.equal(headers['x-user-roles'], 'service,devops')
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['idempotency-key'], 'key-1')
  assert.equal(headers['if-match'], '"3"')
  assert.equal(headers.authorization, undefined)
  assert.equal(headers['x-forwarded-for'], undefined)
})

const REFUSAL = '{"code":"some_code","message":"Not like\\nthis."}'
for (const [status, body, outcome] of [
  [200, '{}', 'accepted'],
  [201, '{}', 'accepted'],
  [204, '', 'accepted'],
  [302, '', 'unavailable'],
  [400, REFUSAL, 'refused'],
  [400, '', 'refused'],
  [401, REFUSAL, 'unavailable'],
  [403, REFUSAL, 'refused'],
  [404, REFUSAL, 'refused'],
  [404, '<html>nginx</html>', 'unavailable'],
  [405, '', 'unavailable'],
  [408, REFUSAL, 'unavailable'],
  [409, REFUSAL, 'refused'],
  [412, REFUSAL, 'refused'],
  [413, REFUSAL, 'refused'],
  [425, '', 'unavailable'],
  [429, REFUSAL, 'unavailable'],
  [500, REFUSAL, 'unavailable'],
  [502, '<html></html>', 'unavailable'],
  [503, REFUSAL, 'unavailable'],
] as const) {
  test(`an answer ${status} ${body.slice(0, 6)} is ${outcome}`, async () => {
    answering(status, body, status === 302 ? { location: `${api.url}/elsewhere` } : {})
    const before = api.requests.length
    const answer = await client.send(REPORT)
    assert.equal(answer.outcome, outcome)
    assert.equal(api.requests.length, before + 1)
    if (answer.outcome === 'accepted') return
    assert.equal(answer.status, status)
    assert.equal(
      answer.reason,
      body === REFUSAL ? `HTTP status ${status}: Not like this.` : `HTTP status ${status}`,
    )
  })
}

for (const [header, milliseconds] of [
  ['3', 3_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
  ['-1', 0],
  ['', 0],
] as const) {
  test(`Retry-After ${JSON.stringify(header)} is a pause of ${milliseconds} ms`, async () => {
    answering(429, '', { 'retry-after': header })
    const answer = await client.send(REPORT)
    assert.equal(answer.outcome === 'unavailable' && answer.retryAfterMs, milliseconds)
  })
}

for (const name of ['resets the connection', 'breaks off in the middle']) {
  test(`a platform that ${name} is unavailable`, async () => {
    api.behave(TICKET_API_FAULTS[name])
    assert.equal((await client.send(REPORT)).outcome, 'unavailable')
  })
}

test('a platform that is not there is unavailable', async () => {
  using absent = new PlatformClient({ url: `http://127.0.0.1:${await freePort()}`, clock: systemClock })
  const answer = await absent.send(REPORT)
  assert.deepEqual(answer, {
    outcome: 'unavailable',
    reason: 'the connection failed (ECONNREFUSED)',
    retryAfterMs: 0,
  })
})

test('an address that is no URL is unavailable, not an exception', async () => {
  using wrong = new PlatformClient({ url: 'nowhere', clock: systemClock })
  assert.equal((await wrong.send(REPORT)).outcome, 'unavailable')
})

test('a platform that accepts a connection and says nothing is given up when the time is over', async () => {
  await using opened = new AsyncDisposableStack()
  const server = createServer((socket) => opened.defer(() => void socket.destroy())).listen(0, '127.0.0.1')
  opened.defer(() => void server.close())
  await once(server, 'listening')
  const clock = fakeWaitingClock()
  const { port } = server.address() as AddressInfo
  using mute = new PlatformClient({ url: `http://127.0.0.1:${port}`, clock })
  const answer = mute.send({ ...REPORT, timeoutMs: 7 * SECOND })
  await clock.pass(7 * SECOND)
  const { outcome, reason } = { reason: '', ...(await answer) }
  assert.deepEqual([outcome, reason], ['unavailable', 'there was no answer within 7 s'])
})
