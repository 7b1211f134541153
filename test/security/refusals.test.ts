import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openApi, type Api } from '../integration/http/client.ts'
import type { Answer, Sent } from '../integration/http/traffic.ts'

const LIMIT = 25
const AUDITOR = { 'x-user-id': 'reader', 'x-user-roles': 'auditor' }

/** Calls that never reach an operation, each with what it is answered until there are too many. */
const REFUSED: readonly (readonly [name: string, status: number, sent: () => Sent])[] = [
  [
    'forged tokens',
    401,
    () => ({ method: 'GET', path: '/users', headers: { authorization: `Bearer ${randomUUID()}` } }),
  ],
  ['calls of nobody', 401, () => ({ method: 'GET', path: '/users', headers: {} })],
  ['calls without the role', 403, () => ({ method: 'GET', path: '/users', headers: AUDITOR })],
  ['paths that are not there', 404, () => ({ method: 'GET', path: `/${randomUUID()}`, headers: {} })],
  ['methods that a path has not', 405, () => ({ method: 'DELETE', path: '/orders', headers: {} })],
]

for (const [name, status, sent] of REFUSED) {
  test(`a flood of ${name} ends in 429, and nobody else is shut out by it`, async () => {
    await using api = await openApi({ API_RATE_LIMIT: String(LIMIT) })
    const { first, last } = await flood(api, sent)
    assert.equal(first, status)
    assert.match(String(last.headers['retry-after']), /^[1-9]\d?$/)
    assert.equal((await api.send({ method: 'GET', path: '/health', headers: {} })).status, 200)
    assert.equal((await api.send({ method: 'GET', path: '/auth/me' })).status, 200, 'a caller who is known')
    assert.notEqual((await logIn(api)).status, 429)
  })
}

test('the documentation counts as any public page', async () => {
  await using api = await openApi({ API_RATE_LIMIT: String(LIMIT) })
  const { first } = await flood(api, () => ({ method: 'GET', path: '/openapi.json', headers: {} }))
  assert.equal(first, 200)
})

test('without a limit nothing is refused for its number', async () => {
  await using api = await openApi({ API_RATE_LIMIT: '0' })
  for (let call = 0; call < 3 * LIMIT; call++)
    assert.equal((await api.send({ method: 'GET', path: '/users', headers: {} })).status, 401)
})

/** Sends until there are too many; more often than it may take, so that a new minute in between does no harm. */
async function flood(api: Api, sent: () => Sent): Promise<{ first: number; last: Answer }> {
  const { status: first } = await api.send(sent())
  for (let call = 0; call < 4 * LIMIT; call++) {
    const last = await api.send(sent())
    if (last.status === 429) return { first, last }
  }
  return assert.fail(`${4 * LIMIT} calls, and none was too many`)
}

function logIn(api: Api): Promise<Answer> {
  const body = { username: 'nobody', password: 'a heavy brass telescope' }
  return api.send({
    method: 'POST',
    path: '/auth/login',
    body,
    headers: { 'content-type': 'application/json' },
  })
}
