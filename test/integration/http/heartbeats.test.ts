import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADMIN, assertRefused, openApi } from './client.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const put = (name: string, body: object) =>
  api.send({ method: 'PUT', path: `/alerts/heartbeats/${name}`, body })

for (const [field, settings] of [
  ['every_seconds', { every_seconds: 29 }],
  ['every_seconds', { every_seconds: 2_678_401 }],
  ['grace_seconds', { every_seconds: 30, grace_seconds: 604_801 }],
  ['severity', { every_seconds: 30, severity: 'CLOSE' }],
] as const) {
  test(`a heartbeat with ${JSON.stringify(settings)} is 400`, async () => {
    assertRefused(await put('limits', settings), 400, 'validation_failed', field)
  })
}

test('a heartbeat whose source has a forbidden variable is 400, and is not stored', async () => {
  const answer = await put('secrets', { every_seconds: 30, source: 'backup ${token}' })
  assertRefused(answer, 400, 'forbidden_variable', 'source')
  const beat = await api.send({ method: 'POST', path: '/alerts/heartbeats/secrets/beat' })
  assertRefused(beat, 404, 'heartbeat_not_found')
})

test('the severity may be in any case, as the level of a report', async () => {
  const answer = await put('severity', { every_seconds: 30, severity: 'Warning' })
  assert.deepEqual([answer.status, (answer.json() as { severity: string }).severity], [201, 'WARNING'])
})

test('the limits themselves are taken', async () => {
  const most = { every_seconds: 2_678_400, grace_seconds: 604_800, severity: 'INFO' }
  assert.equal((await put('most', most)).status, 201)
  assert.equal((await put('least', { every_seconds: 30, grace_seconds: 0 })).status, 201)
})

async function createWithUrl(name: string): Promise<string> {
  const answer = await put(name, { schedule: '0 2 * * *', grace_seconds: 600 })
  assert.equal(answer.status, 201)
  const { ping_url, every_seconds, time_zone } = answer.json() as Record<string, unknown>
  // A path: this api does not know where it is reached.
  assert.match(String(ping_url), /^\/ping\/[0-9a-f]{32}$/)
  assert.deepEqual([every_seconds, time_zone], [null, null])
  return String(ping_url)
}

const ping = (path: string, init?: RequestInit) => fetch(new URL(path, api.platform.url), init)

test('a ping needs no identity, by each method, with a body of any type', async () => {
  const url = await createWithUrl('pinged')
  assert.equal(await (await ping(url)).text(), 'OK\n')
  assert.equal((await ping(url, { method: 'HEAD' })).status, 200)
  const body = `${'€'.repeat(3_333)}€${'x'.repeat(100_000)}`
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json', 'image/png']) {
    const sent = await ping(`${url}/7`, { method: 'POST', body, headers: { 'content-type': type } })
    assert.equal(sent.status, 200, type)
  }
  const kept = await api.send({ method: 'GET', path: '/alerts/heartbeats/pinged/pings' })
  const { items } = kept.json() as { items: { kind: string; exit_code: number | null; body: string }[] }
  const failed = ['exit', 7, '€'.repeat(3_333)]
  const done = ['done', null, '']
  assert.deepEqual(
    items.map(({ kind, exit_code, body: text }) => [kind, exit_code, text]),
    [failed, failed, failed, failed, done, done],
  )
  const { status, missed_at, ping_url } = (
    await api.send({ method: 'GET', path: '/alerts/heartbeats/pinged' })
  ).json() as Record<string, unknown>
  assert.deepEqual([status, typeof missed_at, ping_url], ['missed', 'string', undefined])
})

test('an unknown address is 404, an unknown signal 400, and an address is shown once', async () => {
  const url = await createWithUrl('signals')
  assert.equal((await ping(`/ping/${'0'.repeat(32)}`)).status, 404)
  assert.equal((await ping(`/ping/${'0'.repeat(32)}/fail`, { method: 'POST' })).status, 404)
  for (const word of ['256', 'done', '-1']) assert.equal((await ping(`${url}/${word}`)).status, 400, word)
  const again = await put('signals', { schedule: '0 2 * * *', grace_seconds: 600 })
  assert.deepEqual([again.status, Object.hasOwn(again.json() as object, 'ping_url')], [200, false])
  const headers = { ...ADMIN, 'idempotency-key': 'rotate-1' }
  const rotate = () => api.send({ method: 'POST', path: '/alerts/heartbeats/signals/rotate', headers })
  const { ping_url } = (await rotate()).json() as { ping_url: string }
  assert.equal((await ping(url)).status, 404)
  assert.equal((await ping(ping_url)).status, 200)
  assert.equal(((await rotate()).json() as { ping_url: string | null }).ping_url, null)
  const unknown = await api.send({ method: 'POST', path: '/alerts/heartbeats/nobody/rotate' })
  assertRefused(unknown, 404, 'heartbeat_not_found')
})
