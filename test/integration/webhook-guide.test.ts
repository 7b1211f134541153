import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { AddressRules } from '../../src/infra/webhooks/addresses.ts'
import { HttpWebhookCaller } from '../../src/infra/webhooks/webhook-caller.ts'
import { newWebhookSecret, webhookHeaders } from '../../src/kernel/standard-webhook.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/loopback.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guide/webhooks.md'), 'utf8')
const LOOPBACK = new AddressRules([{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }])

/** The block of the guide in that language. */
function exampleIn(language: string): string {
  const begin = GUIDE.indexOf(`\`\`\`${language}\n`)
  return GUIDE.slice(GUIDE.indexOf('\n', begin) + 1, GUIDE.indexOf('\n```', begin))
}

for (const [language, command, options] of [
  ['js', process.execPath, ['--input-type=module', '-e']],
  ['python', 'python3', ['-c']],
] as const) {
  test(`the receiver of the guide in ${language} takes a signed event, and refuses another one`, async () => {
    const port = await freePort()
    const secret = newWebhookSecret()
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret }
    const receiver = spawn(command, [...options, exampleIn(language)], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let output = ''
    receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const caller = new HttpWebhookCaller(LOOPBACK)
    const body = '{"type":"order.paid"}'
    const send = async (...secrets: string[]) => {
      const headers = webhookHeaders(secrets, Date.now(), { id: 'event-1', body })
      const call = { url: `http://127.0.0.1:${port}/`, headers, body }
      const reply = await caller.call(call, new AbortController().signal)
      return 'status' in reply ? reply.status : undefined
    }
    try {
      assert.equal(await eventually('the receiver answers', () => send(newWebhookSecret())), 401)
      assert.equal(await send(newWebhookSecret(), secret), 204)
      await eventually('the event is printed', () => output.includes('event-1 order.paid'))
    } finally {
      receiver.kill()
      await once(receiver, 'exit')
      await caller.close()
    }
  })
}

test('the library of Standard Webhooks takes what is received with either secret of a rotation, and refuses another one', async () => {
  const received = Promise.withResolvers<{ body: Buffer; headers: Record<string, string> }>()
  const receiver = createServer((request, response) => {
    void buffer(request).then((body) => {
      received.resolve({ body, headers: request.headers as Record<string, string> })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const caller = new HttpWebhookCaller(LOOPBACK)
  const [older, newer] = [newWebhookSecret(), newWebhookSecret()]
  const event = { type: 'order.paid', data: { note: 'ein „Ä“ und 订单' } }
  const body = JSON.stringify(event)
  try {
    const headers = webhookHeaders([newer, older], Date.now(), { id: 'event-1', body })
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    await caller.call({ url, headers, body }, new AbortController().signal)
    const taken = await received.promise
    for (const secret of [older, newer])
      assert.deepEqual(new Webhook(secret).verify(taken.body, taken.headers), event)
    const other = new Webhook(newWebhookSecret())
    assert.throws(() => other.verify(taken.body, taken.headers), WebhookVerificationError)
  } finally {
    receiver.close()
    await caller.close()
  }
})
