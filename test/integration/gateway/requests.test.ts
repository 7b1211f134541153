import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerResponse } from 'node:http'
import { eventually } from '../../support/eventually.ts'
import { sendJson } from './api-double.ts'
import { openSession, PATIENT } from './socket.ts'
import { openWorld } from './world.ts'

const GET = { type: 'request', method: 'GET', path: '/orders' }
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const NOWHERE = 'http://127.0.0.1:1'

test('a request goes to the api as the holder of the session', async (t) => {
  const { url, token, api } = await openWorld(t)
  const session = await openSession(url, { token: await token({ user: 'ada', roles: ['admin', 'auditor'] }) })
  session.send({
    type: 'request',
    id: 'a-1',
    method: 'PUT',
    path: '/orders/1?x=%20',
    headers: {
      'Idempotency-Key': 'k',
      'X-Request-Id': 'mine',
      'Accept-Encoding': 'gzip',
      traceparent: TRACEPARENT,
      tracestate: 'v=1',
    },
    body: { status: 'paid', nested: [null, 1.5, 'ä'] },
  })
  await session.frame('response', { id: 'a-1' })
  const [seen] = api.seen
  assert.deepEqual([seen?.method, seen?.url], ['PUT', '/orders/1?x=%20'])
  assert.deepEqual(JSON.parse(seen?.body ?? ''), { status: 'paid', nested: [null, 1.5, 'ä'] })
  assert.deepEqual(
    {
      id: seen?.headers['x-user-id'],
      name: seen?.headers['x-user-name'],
      roles: seen?.headers['x-user-roles'],
      request: seen?.headers['x-request-id'],
      key: seen?.headers['idempotency-key'],
      type: seen?.headers['content-type'],
      host: seen?.headers.host,
      // The answer is read as text.
      coding: seen?.headers['accept-encoding'],
    },
    {
      id: 'id-of-ada',
      name: 'ada',
      roles: 'admin,auditor',
      request: 'mine',
      key: 'k',
      type: 'application/json',
      host: new URL(api.url).host,
      coding: undefined,
    },
  )
  const { traceparent, tracestate } = seen?.headers ?? {}
  assert.match(
    String(traceparent),
    new RegExp(`^${TRACEPARENT.slice(0, 36)}(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`),
  )
  assert.equal(tracestate, 'v=1')
})

const BODIES: Readonly<Record<string, string>> = {
  'a number that no double represents': '{"subject":"gw.a","payload":1e400}',
  'a member twice': '{"payload":{"a":1,"a":2}}',
  'a number with zeros at its end': '[1.50,-0,1E2]',
  'white space': '{ "a" :\t[ 1 ,\n2 ] }',
  escapes: String.raw`{"b\u006fdy":"\u00e4\/\"\\","}":"\\\\\","}`,
  'braces in texts': '["}",{"]":"{"},","]',
  null: 'null',
  'an empty text': '""',
}

for (const [name, body] of Object.entries(BODIES)) {
  test(`the api gets a body with ${name} as it was sent`, async (t) => {
    const { url, token, api } = await openWorld(t)
    const session = await openSession(url, { token: await token() })
    const others = '"type":"request","method":"POST","path":"/"'
    const frames = [
      `{${others},"id":1,"body":${body}}`,
      `{"body": ${body} ,${others},"id":2}`,
      String.raw`{"trace":[{"body":0}],"headers":{"body":"0"},"bod\u0079":${body},"id":3,${others}}`,
    ]
    for (const [index, frame] of frames.entries()) {
      session.socket.send(frame)
      await session.frame('response', { id: index + 1 })
    }
    assert.deepEqual(
      api.seen.map((request) => request.body),
      [body, body, body],
    )
  })
}

test('a request frame cannot set headers that identify its sender', async (t) => {
  const { url, token, api } = await openWorld(t)
  const session = await openSession(url, { token: await token() })
  const headers = {
    Authorization: 'Bearer x',
    Cookie: 'a=b',
    Host: 'evil.example',
    'X-User-Roles': 'admin',
    x_user_id: 'root',
    Forwarded: 'for=127.0.0.1',
    'X-Forwarded-For': '192.0.2.1',
    Connection: 'close, x-user-id',
    'Content-Length': '500',
    'Transfer-Encoding': 'chunked',
  }
  session.send({ ...GET, id: 1, headers })
  await session.frame('response', { id: 1 })
  const names = api.seen[0]?.rawHeaders
    .filter((_, index) => index % 2 === 0)
    .map((name) => name.toLowerCase())
  assert.deepEqual(names?.sort(), [
    'connection',
    'host',
    'traceparent',
    'x-forwarded-for',
    'x-identity-signature',
    'x-request-id',
    'x-user-id',
    'x-user-name',
    'x-user-roles',
  ])
  assert.equal(api.seen[0]?.headers['x-user-roles'], 'devops')
  assert.equal(api.seen[0]?.headers['x-forwarded-for'], '127.0.0.1', 'of the client, signed by the gateway')
})

const ANSWERS: Readonly<Record<string, readonly [type: string, text: string, body: unknown]>> = {
  'a JSON object': ['application/json; charset=utf-8', '{"a":[1,null]}', { a: [1, null] }],
  'a JSON text': ['application/json', '"a"', 'a'],
  'a JSON null': ['application/json', 'null', null],
  'another kind of JSON': ['application/problem+json', '{}', {}],
  'broken JSON': ['application/json', '{"a":', '{"a":'],
  'text that looks like JSON': ['text/plain', '{}', '{}'],
  'text with quotes': ['text/plain', '"\n\u2028', '"\n\u2028'],
  nothing: ['text/plain', '', ''],
}

for (const [name, [type, text, body]] of Object.entries(ANSWERS)) {
  test(`an answer that is ${name} comes as what it is`, async (t) => {
    const { url, token, api } = await openWorld(t)
    api.reply = (_request, response) => {
      response.writeHead(418, { 'content-type': type, 'x-extra': 'yes' }).end(text)
    }
    const session = await openSession(url, { token: await token() })
    session.send({ ...GET, id: 'x' })
    const frame = await session.frame('response', { id: 'x' })
    assert.deepEqual([frame['status'], frame['body']], [418, body])
    const headers = frame['headers'] as Record<string, string>
    assert.deepEqual([headers['content-type'], headers['x-extra']], [type, 'yes'])
    assert.equal('connection' in headers, false)
  })
}

test('an answer of a mebibyte comes whole, a larger one is an error', async (t) => {
  const { url, token, api } = await openWorld(t)
  const session = await openSession(url, { token: await token() })
  api.reply = ({ url: path }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(Number(path.slice(1))))
  }
  session.send({ ...GET, id: 'whole', path: '/1048576' })
  assert.equal(String((await session.frame('response', { id: 'whole' }))['body']).length, 1_048_576)
  session.send({ ...GET, id: 'larger', path: '/1048577' })
  assert.equal((await session.frame('error', { id: 'larger' }))['code'], 'answer_too_large')
  session.send({ ...GET, id: 'after', path: '/3' })
  await session.frame('response', { id: 'after' })
})

test('twenty requests may be in flight; one more is an error and does not end the session', async (t) => {
  const { url, token, api } = await openWorld(t)
  const waiting: ServerResponse[] = []
  api.reply = (_request, response) => void waiting.push(response)
  const session = await openSession(url, { token: await token() })
  for (let id = 1; id <= 20; id++) session.send({ ...GET, id })
  await eventually('twenty requests at the api', () => waiting.length === 20, PATIENT)
  session.send({ ...GET, id: 21 })
  assert.equal((await session.frame('error', { id: 21 }))['code'], 'too_many_requests')
  for (const response of waiting) sendJson(response, 200, {})
  await session.frame('response', { id: 20 })
  await eventually(
    'all answers',
    () => session.frames.filter(({ type }) => type === 'response').length === 20,
    PATIENT,
  )
  session.send({ ...GET, id: 22 })
  await eventually('the next request', () => waiting.length === 21, PATIENT)
  waiting.forEach((response) => response.destroy())
})

test('requests in flight are aborted when their session ends', async (t) => {
  const { url, token, api } = await openWorld(t)
  let broken = 0
  api.reply = (_request, response) => void response.on('close', () => broken++)
  const session = await openSession(url, { token: await token() })
  for (let id = 1; id <= 5; id++) session.send({ ...GET, id })
  await eventually('the requests at the api', () => api.seen.length === 5, PATIENT)
  session.socket.close()
  await eventually('their end', () => broken === 5, PATIENT)
})

test('a session outlives the api, and its requests answer 503', async (t) => {
  const { url, token } = await openWorld(t, { apiUrl: () => NOWHERE })
  const session = await openSession(url, { token: await token() })
  for (const id of [1, 2]) {
    session.send({ ...GET, id })
    const { status, body } = await session.frame('response', { id })
    assert.deepEqual([status, (body as { code: string }).code], [503, 'api_unavailable'])
  }
})

test('an api that breaks off in the middle of an answer is 503', async (t) => {
  const { url, token, api } = await openWorld(t)
  api.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('begin', () => {
      response.destroy()
    })
  }
  const session = await openSession(url, { token: await token() })
  session.send({ ...GET, id: 1 })
  assert.equal((await session.frame('response', { id: 1 }))['status'], 503)
})

test('requests reuse connections', async (t) => {
  const { url, token, api } = await openWorld(t)
  const session = await openSession(url, { token: await token() })
  for (let id = 1; id <= 30; id++) {
    session.send({ ...GET, id })
    await session.frame('response', { id })
  }
  assert.equal(await api.connections(), 1)
})

test('requests fail closed once endings could not be read for 10 s, and work again afterwards', async (t) => {
  const { url, token, api, registry, advance } = await openWorld(t)
  const session = await openSession(url, { token: await token() })
  registry.setAway(true)
  session.send({ ...GET, id: 'at once' })
  await session.frame('response', { id: 'at once' })
  advance(11_000)
  session.send({ ...GET, id: 'later' })
  assert.equal((await session.frame('error', { id: 'later' }))['code'], 'store_unavailable')
  assert.equal(api.seen.length, 1, 'the api gets no request whose user may be disabled')
  registry.setAway(false)
  await eventually(
    'a request that works',
    () => {
      session.send({ ...GET, id: 'again' })
      return session.frames.some(({ type, id }) => type === 'response' && id === 'again')
    },
    PATIENT,
  )
})

test('a session whose user was disabled while the registry was away ends, and sends nothing to the api', async (t) => {
  const { url, token, api, registry, advance } = await openWorld(t)
  const session = await openSession(url, { token: await token() })
  registry.setAway(true)
  advance(11_000)
  registry.endElsewhere(String(session.frames[0]?.['session_id']), 4401, 'the user was disabled')
  for (const id of [1, 2, 3]) session.send({ ...GET, id })
  await session.frame('error', { id: 3, code: 'store_unavailable' })
  registry.setAway(false)
  assert.equal((await session.closed).code, 4401)
  assert.deepEqual(api.seen, [])
})
