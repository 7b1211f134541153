import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused, openApi } from './client.ts'

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
