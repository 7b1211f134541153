import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ADMIN, assertRefused, openApi } from '../integration/http/client.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const post = (path: string, body: string) =>
  api.send({ method: 'POST', path, body, headers: { ...ADMIN, 'content-type': 'application/json' } })
const publish = (payload: string) =>
  post('/messages/publish', `{"subject":"shop.opened","payload":${payload}}`)

// Two readers of the same text may take another one of the two.
describe('a member that stands twice', () => {
  const TWICE = {
    'at the top': '{"order_id":"a","order_id":"b","platform":"live","amount_cents":1}',
    'with the same value': '{"order_id":"a","platform":"live","platform":"live","amount_cents":1}',
    'written in another way': '{"order_id":"a","order\\u005fid":"b","platform":"live","amount_cents":1}',
    'that is not known': '{"a":1,"a":2}',
    'with an empty name': '{"":1,"":2}',
    'of a name like a number': '{"0":1,"0":2}',
    'behind a byte order mark': '\ufeff{"order_id":"a","order_id":"b","platform":"live","amount_cents":1}',
  }
  for (const [where, text] of Object.entries(TWICE)) {
    test(`is refused ${where}`, async () => {
      assertRefused(await post('/orders', text), 400, 'malformed_json')
    })
  }

  test('is refused at any depth of a payload', async () => {
    for (const payload of ['{"a":1,"a":1}', '[1,{"b":{"a":[],"a":[]}}]', '{"a":{"a":{"a":1,"\\u0061":2}}}'])
      assertRefused(await publish(payload), 400, 'malformed_json', undefined, payload)
  })

  test('is not seen where there is none', async () => {
    const payloads = [
      '{"a":{"a":{"a":1}},"b":{"a":1}}',
      '[{"a":1},{"a":1}]',
      '{"a\\":\\"b":":::","\\\\":"\\\\\\":","c":"\\\\"}',
      '{"":":","\\"":"{\\"a\\":1,\\"a\\":2}"}',
      '{ "a" : 1 , "b" :\t2 }',
    ]
    for (const payload of payloads) {
      const answer = await publish(payload)
      assert.equal(answer.status, 202, payload)
      assert.deepEqual((answer.json() as { payload: unknown }).payload, JSON.parse(payload))
    }
  })
})

// RFC 7493, section 2.2: beyond these a reader of JSON may see another number than the one that was written.
describe('an integer beyond 2^53 - 1', () => {
  const LOST = [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '1'.repeat(300),
  ]
  for (const number of LOST) {
    test(`is refused, and not published as another one: ${number.slice(0, 25)}`, async () => {
      assertRefused(await publish(number), 400, 'validation_failed', 'payload')
      assertRefused(await publish(`[{"b":1},{"id":${number}}]`), 400, 'validation_failed', 'payload.1.id')
    })
  }

  test('may stand as text, and other numbers come back as they were sent', async () => {
    const payload = ['12345678901234567890', 9007199254740991, -9007199254740991, 1e21, 0.1, 1e308, 5e-324]
    const answer = await publish(JSON.stringify(payload))
    assert.equal(answer.status, 202, answer.text)
    assert.deepEqual((answer.json() as { payload: unknown }).payload, payload)
  })
})

test('half a character stays what it was, and NUL is text in a payload only', async () => {
  const answer = await publish('"\\ud800 \\u0000"')
  assert.equal(answer.status, 202, answer.text)
  assert.deepEqual((answer.json() as { payload: unknown }).payload, '\ud800 \u0000')
})
