import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  answerJson,
  answerText,
  breakBody,
  resetConnection,
  truncateBody,
} from '../../../test/support/scripted-api.ts'
import { clientWorld } from '../../../test/support/typed-client.ts'
import { PlatformError, type Client } from './index.ts'

const ORDER = { order_id: 'a', platform: 'live', amount_cents: 1 }
const UNAVAILABLE = answerJson(503, { code: 'store_unavailable', message: 'The database is away.' })
const DONE = answerJson(200, ORDER)

function keysOf(requests: readonly { readonly headers: NodeJS.Dict<string | string[]> }[]) {
  return [...new Set(requests.map(({ headers }) => headers['idempotency-key']))]
}

const okay = () => Promise.resolve(Response.json(ORDER))

/** Rejects when the signal aborts, as `fetch` does. */
function silence(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

async function failureOf(call: Promise<unknown>): Promise<PlatformError> {
  const error: unknown = await call.then(
    () => undefined,
    (each: unknown) => each,
  )
  assert.ok(error instanceof PlatformError)
  return error
}

describe('a call', () => {
  test('sends what its operation takes, and resolves with the body', async () => {
    await using world = await clientWorld([DONE])
    const order = await world.client.call('createOrder', { body: ORDER })
    assert.deepEqual(order, ORDER)
    const [request] = world.api.requests
    assert.deepEqual(
      [request?.method, request?.url, request?.body],
      ['POST', '/orders', JSON.stringify(ORDER)],
    )
    assert.equal(request?.headers.authorization, 'Bearer a-token')
    assert.equal(request?.headers['content-type'], 'application/json')
    assert.match(String(request?.headers['idempotency-key']), /^[0-9a-f]{32}$/)
  })

  test('writes parameters into the address, and leaves out those that are undefined', async () => {
    await using world = await clientWorld([answerJson(200, { items: [], next_cursor: null })])
    await world.client.call('listOrders', { query: { status: 'paid', limit: 2, platform: undefined } })
    await world.client.call('getOrder', { path: { order_id: 'a/b c' } })
    assert.deepEqual(
      world.api.requests.map(({ url }) => url),
      ['/orders?status=paid&limit=2', '/orders/a%2Fb%20c'],
    )
  })

  test('has the version of the answer, and sends it with a change', async () => {
    await using world = await clientWorld([answerJson(200, ORDER, { etag: '"3"', 'x-request-id': 'r-1' })])
    const { etag, requestId, status } = await world.client.send('getOrder', { path: { order_id: 'a' } })
    assert.deepEqual([etag, requestId, status], ['"3"', 'r-1', 200])
    const change = {
      path: { order_id: 'a' },
      body: { status: 'paid' },
      headers: { 'If-Match': '"3"' },
    } as const
    await world.client.call('moveOrder', change)
    assert.equal(world.api.requests[1]?.headers['if-match'], '"3"')
    assert.equal(world.api.requests[1]?.headers['idempotency-key'], undefined)
  })

  test('reads text as text, and no body as undefined', async () => {
    await using world = await clientWorld([answerText(200, 'platform_up 1\n'), answerText(204, '')])
    assert.equal(await world.client.call('getMetrics'), 'platform_up 1\n')
    assert.equal(await world.client.call('deleteUser', { path: { id: 'u' } }), undefined)
  })

  test('asks for the token before each attempt', async () => {
    const tokens = ['old', 'new']
    await using world = await clientWorld([UNAVAILABLE, DONE], { token: () => tokens.shift() ?? '' })
    await world.client.call('getMe')
    assert.deepEqual(
      world.api.requests.map(({ headers }) => headers.authorization),
      ['Bearer old', 'Bearer new'],
    )
  })

  test('fails with what the token function throws', async () => {
    const problem = new Error('no token')
    const token = () => Promise.reject(problem)
    await using world = await clientWorld([DONE], { token })
    await assert.rejects(world.client.call('getMe'), problem)
    assert.equal(world.api.requests.length, 0)
  })
})

describe('an error of a call', () => {
  test('has the code, the status, the request id and the details of the platform', async () => {
    const details = [{ path: 'platform', message: 'is required' }]
    const body = { code: 'validation_failed', message: 'platform is required.', details }
    await using world = await clientWorld([answerJson(400, body, { 'x-request-id': 'r-7' })])
    await assert.rejects(world.client.call('createOrder', { body: ORDER }), {
      name: 'PlatformError',
      operation: 'createOrder',
      ...body,
      status: 400,
      requestId: 'r-7',
      attempts: 1,
    })
  })

  test('says that an object still has the version that the caller knows', async () => {
    await using world = await clientWorld([answerText(304, '')])
    const call = { path: { order_id: 'a' }, headers: { 'If-None-Match': '"3"' } }
    await assert.rejects(world.client.call('getOrder', call), {
      code: 'not_modified',
      status: 304,
      attempts: 1,
    })
    assert.equal(world.api.requests[0]?.headers['if-none-match'], '"3"')
  })

  test('has the status for a page of a proxy, and the id that the client has sent', async () => {
    await using world = await clientWorld([answerText(502, '<html>')], { retryForMs: 0 })
    const error = await failureOf(world.client.call('getMe'))
    assert.deepEqual([error.code, error.status], ['status_502', 502])
    assert.equal(error.requestId, world.api.requests[0]?.headers['x-request-id'])
  })

  test('does not contain the token', async () => {
    await using world = await clientWorld([resetConnection], { token: 'geheim', retryForMs: 0 })
    const error = await failureOf(world.client.call('getMe'))
    assert.doesNotMatch(`${JSON.stringify(error)} ${error.stack} ${String(error.cause)}`, /geheim/)
  })
})

describe('a call is sent again', () => {
  const PASSING = [
    ['a reset connection', resetConnection],
    ['a body that breaks off', breakBody],
    ['a body that is not complete', truncateBody],
    ['wrong JSON', answerText(200, '<html>')],
    ['503', UNAVAILABLE],
    ['500', answerJson(500, { code: 'internal', message: 'An error.' })],
    ['502 of a proxy', answerText(502, '<html>')],
  ] as const
  for (const [fault, answer] of PASSING) {
    test(`after ${fault}, with the same key and the same request id`, async () => {
      await using world = await clientWorld([answer, answer, DONE])
      assert.deepEqual(await world.client.call('createOrder', { body: ORDER }), ORDER)
      const { requests } = world.api
      assert.equal(requests.length, 3)
      assert.equal(keysOf(requests).length, 1)
      assert.equal(new Set(requests.map(({ headers }) => headers['x-request-id'])).size, 1)
      assert.deepEqual(world.pauses, [200, 400])
    })
  }

  test('after an attempt that takes too long', async () => {
    let attempts = 0
    const fetch = (_url: string, { signal }: RequestInit) => (attempts++ === 0 ? silence(signal) : okay())
    await using world = await clientWorld([DONE], { timeoutMs: 5, fetch })
    assert.deepEqual(await world.client.call('createOrder', { body: ORDER }), ORDER)
  })

  test('after the seconds of Retry-After', async () => {
    const limited = { code: 'rate_limited', message: 'Too many calls.' }
    await using world = await clientWorld([answerJson(429, limited, { 'retry-after': '7' }), DONE])
    await world.client.call('getMe')
    assert.deepEqual(world.pauses, [7_200])
  })

  test('after the time of Retry-After, by the clock of the server', async () => {
    const times = { 'retry-after': 'Sat, 31 Jan 2026 02:00:09 GMT', date: 'Sat, 31 Jan 2026 02:00:00 GMT' }
    await using world = await clientWorld([answerJson(503, {}, times), DONE])
    await world.client.call('getMe')
    assert.deepEqual(world.pauses, [9_200])
  })

  test('with the key of the caller', async () => {
    await using world = await clientWorld([UNAVAILABLE, DONE])
    await world.client.call('createOrder', { body: ORDER, headers: { 'Idempotency-Key': 'mine' } })
    assert.deepEqual(keysOf(world.api.requests), ['mine'])
  })

  test('for longer than a restart of the platform takes, and fails with the last error', async () => {
    await using world = await clientWorld([UNAVAILABLE])
    await assert.rejects(world.client.call('getMe'), { code: 'store_unavailable', status: 503 })
    const waited = world.pauses.reduce((sum, pause) => sum + pause, 0)
    assert.ok(waited > 20_000 && waited <= 30_000, `${waited} ms`)
  })

  test('for as long as the caller wants', async () => {
    await using world = await clientWorld([UNAVAILABLE], { retryForMs: 700 })
    await assert.rejects(world.client.call('getMe'), { code: 'store_unavailable', attempts: 3 })
    assert.deepEqual(world.pauses, [200, 400])
  })

  test('once with another token after a refused one, also if it changes something without a key', async () => {
    const tokens = ['old', 'new', 'newest']
    const refused = answerJson(401, { code: 'unauthenticated', message: 'The token has expired.' })
    const token = () => tokens.shift() ?? ''
    await using world = await clientWorld([refused, DONE, refused, refused], { token })
    const change = { path: { id: 'u' }, body: { enabled: false } }
    await world.client.call('updateUser', change)
    assert.deepEqual(world.pauses, [], 'at once')
    await assert.rejects(world.client.call('updateUser', change), { status: 401, attempts: 2 })
    const sent = world.api.requests.map(({ headers }) => headers.authorization)
    assert.deepEqual(
      sent,
      ['Bearer old', 'Bearer new', 'Bearer newest', 'Bearer '].map((each) => each.trim()),
    )
  })
})

describe('a call is not sent again', () => {
  const UNREPEATABLE: readonly (readonly [what: string, send: (client: Client) => Promise<unknown>])[] = [
    ['a change without a key', (c) => c.call('updateUser', { path: { id: 'u' }, body: { enabled: false } })],
    ['a login', (c) => c.call('login', { body: { username: 'ann', password: 'x' } })],
    ['a comment', (c) => c.call('editTicket', { path: { id: 't' }, body: { comment: 'Done.' } })],
  ]
  for (const [what, send] of UNREPEATABLE) {
    test(`if it is ${what}`, async () => {
      await using world = await clientWorld([resetConnection])
      await assert.rejects(send(world.client), { code: 'unreachable', status: 0, attempts: 1 })
      assert.equal(world.api.requests.length, 1)
    })
  }

  test('after an error that stays', async () => {
    await using world = await clientWorld([answerJson(409, { code: 'order_exists', message: 'Used.' })])
    await assert.rejects(world.client.call('createOrder', { body: ORDER }), { code: 'order_exists' })
    assert.equal(world.api.requests.length, 1)
  })

  test('with a fixed token that is refused', async () => {
    await using world = await clientWorld([answerJson(401, { code: 'unauthenticated', message: 'No.' })])
    await assert.rejects(world.client.call('getMe'), { status: 401, attempts: 1 })
  })

  test('when Retry-After is longer than the caller wants to wait', async () => {
    const answer = answerJson(429, { code: 'rate_limited', message: 'Later.' }, { 'retry-after': '61' })
    await using world = await clientWorld([answer])
    await assert.rejects(world.client.call('getMe'), { retryAfterSeconds: 61, attempts: 1 })
  })

  test('when its signal aborts, whose reason is the error', async () => {
    const reason = new Error('the user left')
    const abort = new AbortController()
    const wait = async () => abort.abort(reason)
    await using world = await clientWorld([UNAVAILABLE], { timing: { wait, random: () => 1, now: () => 0 } })
    await assert.rejects(world.client.call('getMe', { signal: abort.signal }), reason)
    assert.equal(world.api.requests.length, 1)
  })

  test('when its signal aborts while it waits for an answer', async () => {
    const reason = new Error('the user left')
    const abort = new AbortController()
    await using world = await clientWorld([() => abort.abort(reason)])
    await assert.rejects(world.client.call('getMe', { signal: abort.signal }), reason)
  })
})
