import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWebhookSecret, newWebhookSecret, webhookHeaders } from './standard-webhook.ts'

// Values of the Standard Webhooks reference implementation.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }

test('a message has the signature of the reference', () => {
  assert.deepEqual(webhookHeaders([SECRET], 1_614_265_330_999, MESSAGE), {
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('each secret signs, in their order', () => {
  const other = newWebhookSecret()
  const of = (secrets: string[]) => webhookHeaders(secrets, 0, MESSAGE)['webhook-signature']
  assert.equal(of([other, SECRET]), `${of([other])} ${of([SECRET])}`)
})

test('a secret is the prefix and 24 to 64 bytes in base64', () => {
  const bytes = (count: number) => `whsec_${Buffer.alloc(count, 7).toString('base64')}`
  assert.ok(isWebhookSecret(SECRET))
  assert.ok(isWebhookSecret(newWebhookSecret()))
  assert.deepEqual([23, 24, 64, 65].map(bytes).map(isWebhookSecret), [false, true, true, false])
  for (const text of ['', 'whsec_', SECRET.slice(6), `${SECRET}=`, `${SECRET}!`])
    assert.ok(!isWebhookSecret(text), text)
})
