import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openApi, type Api } from '../integration/http/client.ts'
import type { Answer, Sent } from '../integration/http/traffic.ts'

const LIMIT = 25
const AUDITOR = { 'x-user-id': 'reader', 'x-user-roles': 'auditor' }

/** Calls that never reach an operation, each with its status before the limit is reached. */
const REFUSED: readonly (readonly [name: string, status: number, sent: () => Sent])[] = [
  [
    'forged tokens',
    401,
    () => ({ method: 'GET', path: '/users', headers: { authorization: `Bearer ${randomUUID()}` } }),
  ],
  ['calls without an identity', 401, () => ({ method: 'GET', path: '/users', headers: {} })],
  ['calls without the role', 403, () => ({ method: 'GET', path: '/users', headers: AUDITOR })],
  ['unknown paths', 404, () => ({ method: 'GET', path: `/${randomUUID()}`, headers: {} })],
  ['unsupported methods', 405, () => ({ method: 'DELETE', path: '/orders', headers: {} })],
]

for (const [name, status, sent] of REFUSED) {
  test(`a flood of ${name} ends in 429, and does not affect other callers`, async () => {
    await using api = await openApi({ API_RATE_LIMIT: String(LIMIT) })
    const { first, last } = await flood(api, sent)
    assert.equal(first, status)
    assert.match(String(last.headers['retry-after']), /^[1-9]\d?$/)
    assert.equal((await api.send({ method: 'GET', path: '/health', headers: {} })).status, 200)
    assert.equal((await api.send({ method: 'GET', path: '/auth/me' })).status, 200, 'a caller who is known')
    assert.notEqual((await logIn(api)).status, 429)
  })
}

test('the addresses of one IPv6 /64 share the limit of public operations', async () => {
  await using api = await openApi({ API_RATE_LIMIT: String(LIMIT) })
  let count = 0
  const { last } = await flood(api, () => {
    const headers = { 'x-forwarded-for': `2001:db8::${(count++).toString(16)}` }
    return { method: 'GET', path: '/openapi.json', headers }
  })
  assert.equal(last.status, 429)
})

test('the documentation counts like any public page', async () => {
  await using api = await openApi({ API_RATE_LIMIT: String(LIMIT) })
  const { first } = await flood(api, () => ({ method: 'GET', path: '/openapi.json', headers: {} }))
  assert.equal(first, 200)
})

test('without a limit no number of calls is refused', async () => {
  await using api = await openApi({ API_RATE_LIMIT: '0' })
  for (let call = 0; call < 3 * LIMIT; call++)
    assert.equal((await api.send({ method: 'GET', path: '/users', headers: {} })).status, 401)
})

/** Sends until the limit is reached; often enough that a new minute in between does not matter. */
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
