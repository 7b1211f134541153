import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayCall } from './session.ts'
import { createCaller, toHttp } from './operations.ts'

test('a call has its parameters in path and query, its body as JSON, and the version that it is for', () => {
  const request = { path: { order_id: 'a/b c' }, body: { status: 'paid' }, ifMatch: '"3"' }
  assert.deepEqual(toHttp('moveOrder', request, 'abc'), {
    target: '/orders/a%2Fb%20c',
    init: {
      method: 'PUT',
      headers: { authorization: 'Bearer abc', 'content-type': 'application/json', 'if-match': '"3"' },
      body: '{"status":"paid"}',
    },
  })
  const query = { status: 'paid', platform: undefined, limit: 50 }
  assert.equal(toHttp('listOrders', { query }, null).target, '/orders?status=paid&limit=50')
})

const callerOf = (answer: () => Promise<Response>) => {
  const refused: string[] = []
  const call = createCaller({
    fetch: answer,
    token: () => 'abc',
    onRefused: (token) => void refused.push(token),
  })
  return { call, refused }
}

test('an answer has its value and its version', async () => {
  const { call } = callerOf(async () => Response.json({ order_id: '1' }, { headers: { etag: '"7"' } }))
  const result = await call('getOrder', { path: { order_id: '1' } })
  assert.deepEqual(result, { ok: true, value: { order_id: '1' }, etag: '"7"' })
})

test('a failure has the code, the sentence and the fields of the API', async () => {
  const details = [{ path: 'amount_cents', message: 'is required' }]
  const body = { code: 'validation_failed', message: 'The body is not valid.', details }
  const { call } = callerOf(async () => Response.json(body, { status: 400 }))
  assert.deepEqual(await call('getOrder', { path: { order_id: '1' } }), {
    ok: false,
    failure: { status: 400, ...body, retryAfterSeconds: null },
  })
})

test('a refused token is reported', async () => {
  const { call, refused } = callerOf(async () => Response.json({}, { status: 401 }))
  await call('getMe', {})
  assert.deepEqual(refused, ['abc'])
})

test('a platform that cannot be reached is a failure', async () => {
  const { call } = callerOf(() => Promise.reject(new TypeError('failed')))
  const result = await call('getMe', {})
  assert.equal(!result.ok && result.failure.code, 'unreachable')
})

test('roles decide who may call, where no policy does', () => {
  assert.equal(mayCall(['service'], 'createOrder'), true)
  assert.equal(mayCall(['auditor'], 'createOrder'), false)
  assert.equal(mayCall([], 'getMe'), true)
})
