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

const MESSAGE = { subject: 'shop.opened', payload: 1 }

/** What a pattern, or a limit of the field, refuses is said in words. */
const SENTENCES: readonly (readonly [request: string, body: unknown, code: string, message: string])[] = [
  [
    'POST /orders',
    { ...ORDER, order_id: '..' },
    'not_an_id',
    'order_id must be 1 to 64 of A-Z, a-z, 0-9, ., _',
  ],
  ['POST /orders', { ...ORDER, platform: 'a\0' }, 'not_text', 'platform must not contain NUL'],
  [
    'POST /users',
    { name: 'a b', password: 'a good long one 7', roles: ['admin'] },
    'not_a_name',
    'name must be 1 to',
  ],
  ['GET /users/names?ids=1', undefined, 'not_ids', 'ids must be 1 to 50 ids of users'],
  [
    'POST /messages/publish',
    { ...MESSAGE, subject: 'shop.*' },
    'not_a_subject',
    'subject must be one subject',
  ],
  ['GET /messages?subject=order.*', undefined, 'not_a_subject', 'subject must be one subject'],
  ['GET /events?subjects=order.*.paid', undefined, 'not_subjects', 'subjects must be subjects separated by'],
  [
    'POST /messages/publish',
    { ...MESSAGE, headers: { 'Nats-Msg-Id': '1' } },
    'not_a_header_name',
    'headers.Nats-Msg-Id must be named with 1 to 64',
  ],
  [
    'POST /messages/publish',
    { ...MESSAGE, headers: { a: 'é' } },
    'not_a_header_value',
    'headers.a must have only',
  ],
  ['POST /api/v1/telemetry', { agent_id: 'a.b', data: {} }, 'not_an_agent_id', 'agent_id must be 1 to 64'],
  [
    'PUT /menus',
    { items: [{ id: 'a', title: 'A', path: 'a' }] },
    'not_a_menu_path',
    'items.0.path must begin with "/"',
  ],
]
for (const [request, given, code, message] of SENTENCES) {
  test(`${request} refuses a wrong form in words: ${code}`, async () => {
    const [method = '', path = ''] = request.split(' ')
    const { status, body } = await send(method, path, given)
    const details = body['details'] as { code: string }[]
    assert.deepEqual([status, details.map((each) => each.code)], [400, [code]])
    assert.ok(String(body['message']).startsWith(message), String(body['message']))
  })
}

test('a number too large for its field is told the limit of that field', async () => {
  for (const amount of ['9007199254740993', '9007199254740992', '1e30']) {
    const text = JSON.stringify(ORDER).replace('"amount_cents":1', `"amount_cents":${amount}`)
    const answer = await send('POST', '/orders', text, { 'content-type': 'application/json' })
    assert.equal(answer.body['message'], 'amount_cents must be <= 9007199254740991.', amount)
  }
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
