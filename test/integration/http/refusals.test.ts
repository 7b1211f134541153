import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openApi } from './client.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const ORDER = { order_id: 'values', platform: 'live', amount_cents: 1 }

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await api.send({
    method,
    path,
    ...(body !== undefined && { body }),
    headers: { 'x-user-id': 'test', 'x-user-roles': 'admin', ...headers },
  })
  return { status: answer.status, headers: answer.headers, body: answer.json() as Record<string, unknown> }
}

test('a program reads from values what the message of an error says', async () => {
  assert.equal((await send('POST', '/orders', ORDER)).status, 201)
  const differing = await send('POST', '/orders', { ...ORDER, platform: 'shop', amount_cents: 2 })
  assert.deepEqual(differing.body['values'], { differing: ['platform', 'amount_cents'] })
  const move = await send('PUT', '/orders/values', { status: 'shipped' })
  assert.deepEqual(move.body['values'], { status: 'pending', allowed: ['paid', 'expired'] })
  const version = await send('PUT', '/orders/values', { status: 'paid' }, { 'if-match': '"7"' })
  assert.deepEqual([version.status, version.body['values']], [412, { etag: '"1"' }])
})

test('an order that is due when it comes is created with a warning', async () => {
  const late = await send('POST', '/orders', {
    ...ORDER,
    order_id: 'late',
    expires_at: '2020-01-31T02:00:00Z',
  })
  const { warning } = late.body as { warning?: { code: string; message: string } }
  assert.deepEqual([late.status, warning?.code], [201, 'expires_at_in_past'])
  assert.ok(warning?.message.includes(String(late.body['created_at'])))
  assert.equal((await send('POST', '/orders', { ...ORDER, order_id: 'good' })).body['warning'], undefined)
})

test('the same JSON in another order of its members is the same request', async () => {
  const key = { 'idempotency-key': 'members' }
  const first = await send(
    'POST',
    '/messages/publish',
    { subject: 'a', payload: { x: 1, y: [{ p: 1, q: 2 }] } },
    key,
  )
  const again = await send(
    'POST',
    '/messages/publish',
    { payload: { y: [{ q: 2, p: 1 }], x: 1 }, subject: 'a' },
    key,
  )
  assert.deepEqual([again.status, again.body['id']], [202, first.body['id']])
  const other = await send(
    'POST',
    '/messages/publish',
    { subject: 'a', payload: { x: 1, y: [{ p: 2, q: 1 }] } },
    key,
  )
  assert.equal(other.body['code'], 'idempotency_key_reused')
})

test('a parameter that an operation does not have is refused, and nothing changes', async () => {
  const refused = await send('POST', '/orders?dry_run=true', { ...ORDER, order_id: 'unknown-parameter' })
  assert.deepEqual([refused.status, refused.body['code']], [400, 'validation_failed'])
  assert.equal((await send('GET', '/orders/unknown-parameter')).status, 404)
})

test('a plus sign that became a space is named', async () => {
  const { status, body } = await send('GET', '/orders?created_from=2026-01-31T02:00:00+01:00')
  assert.equal(status, 400)
  assert.match(String(body['message']), /write \+ as %2B/)
})

test('the patterns of the document need neither the flag u nor an engine with look-ahead', async () => {
  const text = JSON.stringify((await send('GET', '/openapi.json')).body)
  const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, json = '""']) => JSON.parse(json) as string,
  )
  const names = [...text.matchAll(/"patternProperties":\{("(?:[^"\\]|\\.)*"):/g)].map(
    ([, pattern]) => JSON.parse(pattern ?? '') as string,
  )
  assert.ok(patterns.length > 100 && names.length > 0)
  for (const pattern of new Set([...patterns, ...names])) {
    assert.doesNotMatch(pattern, /\\u|\(\?[!=<]/, pattern)
    new RegExp(pattern)
  }
  const header = new RegExp(names.find((pattern) => pattern.includes('[Nn]')) ?? assert.fail('no header'))
  for (const beginning of ['', 'n', 'NA', 'nat', 'NatS', 'nats-', 'NATS-', 'x', 'natsx', 'n-', 'nats_'])
    for (const length of [0, 1, 5, 6, 63, 64, 65]) {
      const name = beginning.padEnd(length, 'a')
      assert.equal(header.test(name), /^(?!nats-)[\w-]{1,64}$/i.test(name), name)
    }
  const free = patterns.find((pattern) => pattern.includes('x00')) ?? assert.fail('no pattern of free text')
  assert.ok(new RegExp(free).test('a café 🎉') && !new RegExp(free).test('a\0b'))
})
