import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { startGatewayDouble, type GatewayDouble } from '../../../test/support/gateway-double.ts'
import { scopeOf } from '../../../test/support/scope.ts'
import { playedTiming } from '../../../test/support/typed-client.ts'
import { framesOf, tokenUntil } from '../../../test/support/vpn-world.ts'
import { createClient } from './index.ts'
import { connectVpn } from './vpn.ts'

const ORDER = { order_id: 'a', platform: 'live', amount_cents: 1 }

/** A client whose calls go through a session with a double. */
async function connectedClient(t: TestContext) {
  const scope = scopeOf(t)
  const gateway = scope.use(await startGatewayDouble())
  const vpn = connectVpn({ gateways: [gateway.url], token: () => tokenUntil(1_000), device: 'laptop' })
  scope.defer(() => vpn.stop())
  assert.equal(await vpn.connected, '100.64.0.2')
  return { gateway, vpn, client: createClient({ url: '', fetch: vpn.fetch, timing: playedTiming() }) }
}

/** Answers each request with the next of these frames. */
async function answerRequests({ sessions }: GatewayDouble, frames: readonly object[]) {
  const session = await eventually('a session', () => sessions[0])
  for (const [index, frame] of frames.entries()) {
    const requests = await framesOf(session, 'request', index + 1)
    session.send({ id: requests[index]?.['id'], ...frame })
  }
  return framesOf(session, 'request', frames.length)
}

test('a call goes through the session, and its answer comes back with its headers', async (t) => {
  const { gateway, client } = await connectedClient(t)
  const answer = client.send('createOrder', { body: ORDER })
  const created = { type: 'response', status: 201, headers: { etag: '"1"' }, body: ORDER }
  const [request] = await answerRequests(gateway, [created])
  assert.deepEqual([request?.['method'], request?.['path'], request?.['body']], ['POST', '/orders', ORDER])
  const { status, etag, value } = await answer
  assert.deepEqual([status, etag, value], [201, '"1"', ORDER])
})

test('an error of the gateway is sent again, with the same key', async (t) => {
  const { gateway, client } = await connectedClient(t)
  const answer = client.call('createOrder', { body: ORDER })
  const requests = await answerRequests(gateway, [
    { type: 'error', code: 'api_unavailable', message: 'The api is away.' },
    { type: 'response', status: 201, headers: {}, body: ORDER },
  ])
  assert.deepEqual(await answer, ORDER)
  const keys = requests.map(({ headers }) => (headers as Record<string, string>)['idempotency-key'])
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
  assert.equal(keys[0], keys[1])
})

test('a request that is too large for a frame fails with 413, once', async (t) => {
  const { client } = await connectedClient(t)
  const body = { subject: 'a', payload: 'x'.repeat(65_536) }
  const expected = { code: 'payload_too_large', status: 413, attempts: 1 }
  await assert.rejects(client.call('publishMessage', { body }), expected)
})

test('a stream through a session ends with an error that says so', async (t) => {
  const { gateway, client } = await connectedClient(t)
  const answering = answerRequests(gateway, [
    { type: 'error', code: 'stream_in_session', message: 'A session carries no stream of events.' },
  ])
  const reading = async () => {
    for await (const _ of client.events()) assert.fail('there is no event')
  }
  await assert.rejects(reading(), { code: 'stream_in_session', status: 501 })
  assert.equal((await answering).length, 1)
})

test('an answer without a body is undefined, and one that is text is text', async (t) => {
  const { gateway, client } = await connectedClient(t)
  const removed = client.call('deleteUser', { path: { id: 'u' } })
  await answerRequests(gateway, [{ type: 'response', status: 204, headers: {} }])
  assert.equal(await removed, undefined)
  const metrics = client.call('getMetrics')
  const text = { type: 'response', status: 200, headers: {}, body: 'platform_up 1\n' }
  await answerRequests(gateway, [{ type: 'unknown' }, text])
  assert.equal(await metrics, 'platform_up 1\n')
})

test('a call is unreachable without a session, and ends with its signal', async (t) => {
  const { gateway, client, vpn } = await connectedClient(t)
  const reason = new Error('the user left')
  const abort = new AbortController()
  const waiting = client.call('getMe', { signal: abort.signal })
  const session = await eventually('a session', () => gateway.sessions[0])
  await framesOf(session, 'request')
  abort.abort(reason)
  await assert.rejects(waiting, reason)
  await vpn.stop()
  assert.deepEqual(await vpn.ended, { code: 1000, reason: 'stopped' })
  await assert.rejects(client.call('getMe'), { code: 'unreachable' })
})

test('waiting for a session fails when the client has ended before', async () => {
  const vpn = connectVpn({ gateways: ['http://127.0.0.1:1'], token: 'no-token' })
  await vpn.stop()
  await assert.rejects(vpn.connected, /The VPN client has ended: stopped/)
})
