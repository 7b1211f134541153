import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { exchange, sendThenRead } from '../http/raw-socket.ts'
import { sendJson, startApiDouble } from './api-double.ts'
import { PATIENT } from './socket.ts'
import { openWorld } from './world.ts'

const NOWHERE = 'http://127.0.0.1:1'

async function bearer(world: Awaited<ReturnType<typeof openWorld>>, roles = ['devops']) {
  return { authorization: `Bearer ${await world.token({ roles })}` }
}

test('a request goes to the api with the identity of its token, and the answer comes back', async (t) => {
  const world = await openWorld(t)
  world.api.reply = (_request, response) => {
    response.writeHead(201, { etag: '"1"', 'content-type': 'application/json' }).end('{"order_id":"a"}')
  }
  const answer = await fetch(`${world.url}/orders?dry=1`, {
    method: 'POST',
    headers: {
      ...(await bearer(world, ['admin', 'king'])),
      'x-request-id': 'mine',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'content-type': 'application/json',
    },
    body: '{"order_id":"a"}',
  })
  assert.deepEqual(
    [answer.status, answer.headers.get('etag'), await answer.json()],
    [201, '"1"', { order_id: 'a' }],
  )
  assert.equal(answer.headers.get('x-request-id'), 'mine')
  assert.match(
    String(world.api.seen[0]?.headers['traceparent']),
    /^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$/,
  )
  const [seen] = world.api.seen
  assert.deepEqual([seen?.method, seen?.url, seen?.body], ['POST', '/orders?dry=1', '{"order_id":"a"}'])
  const { authorization, host, ...headers } = seen?.headers ?? {}
  assert.equal(authorization, undefined)
  assert.equal(host, new URL(world.api.url).host)
  assert.deepEqual(
    [headers['x-user-id'], headers['x-user-name'], headers['x-user-roles'], headers['x-request-id']],
    ['id-of-ada', 'ada', 'admin', 'mine'],
  )
})

for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
  test(`${method} is passed on`, async (t) => {
    const world = await openWorld(t)
    const answer = await fetch(`${world.url}/any/path`, { method, headers: await bearer(world) })
    assert.equal(answer.status, 200)
    assert.deepEqual(
      world.api.seen.map((seen) => seen.method),
      [method],
    )
  })
}

for (const path of [
  '/orders',
  '/openapi.json',
  '/docs',
  '/users',
  '/tunnels/state',
  '/auth/me',
  '/auth/login/',
  '/auth/oauth/redeem',
  '/auth/oauth',
  '/auth/oauth/login/',
]) {
  test(`${path} needs a token`, async (t) => {
    const { url, api } = await openWorld(t)
    const answer = await fetch(`${url}${path}`)
    assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer'])
    assert.deepEqual(api.seen, [])
  })
}

test('the root leads to the page of the tunnels', async (t) => {
  const { url, api } = await openWorld(t)
  const answer = await fetch(`${url}/`, { redirect: 'manual' })
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/tunnels'])
  assert.deepEqual(api.seen, [])
})

test('identity headers are ignored at a gateway', async (t) => {
  const { url, api } = await openWorld(t)
  const answer = await fetch(`${url}/users`, { headers: { 'x-user-id': 'root', 'x-user-roles': 'admin' } })
  assert.equal(answer.status, 401)
  assert.deepEqual(api.seen, [])
})

test('another method than POST needs a token at the login', async (t) => {
  const { url, api } = await openWorld(t)
  assert.equal((await fetch(`${url}/auth/login`)).status, 401)
  assert.deepEqual(api.seen, [])
})

for (const [method, path] of [
  ['GET', '/auth/oauth/login?return_to=/'],
  ['GET', '/auth/oauth/callback?code=c&state=s'],
  ['POST', '/auth/oauth/redeem'],
  ['GET', '/auth/oauth/logout'],
  ['GET', '/ping/0123'],
  ['HEAD', '/ping/0123'],
  ['POST', '/ping/0123/7'],
  ['POST', '/payments/callbacks/wechat'],
  ['GET', '/payments/done?session=1'],
] as const) {
  test(`${method} ${path} is passed on without an identity, and cookies go both ways`, async (t) => {
    const { url, api } = await openWorld(t)
    api.reply = (_request, response) => {
      response.writeHead(302, { location: '/x#y', 'set-cookie': ['a=1; HttpOnly', 'b=2'] }).end()
    }
    const headers = { cookie: 'platform-sign-in=k', 'x-user-id': 'root', 'x-user-roles': 'admin' }
    const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual' })
    assert.deepEqual(
      [answer.status, answer.headers.get('location'), answer.headers.getSetCookie()],
      [302, '/x#y', ['a=1; HttpOnly', 'b=2']],
    )
    const [seen] = api.seen
    assert.deepEqual([seen?.url, seen?.headers.cookie], [path, 'platform-sign-in=k'])
    assert.deepEqual([seen?.headers['x-user-id'], seen?.headers['x-forwarded-for']], [undefined, '127.0.0.1'])
  })
}

test('the login is passed on without an identity and with the address of the client', async (t) => {
  const world = await openWorld(t)
  const answer = await fetch(`${world.url}/auth/login`, {
    method: 'POST',
    headers: {
      ...(await bearer(world)),
      'content-type': 'application/json',
      'x-forwarded-for': '192.0.2.7',
      'x-user-id': 'root',
      forwarded: 'for=192.0.2.7',
    },
    body: '{"username":"ada","password":"p"}',
  })
  assert.equal(answer.status, 200)
  const [seen] = world.api.seen
  const headers = seen?.headers ?? {}
  assert.equal(seen?.body, '{"username":"ada","password":"p"}')
  assert.equal(headers['x-forwarded-for'], '127.0.0.1')
  for (const name of ['authorization', 'x-user-id', 'x-user-roles', 'forwarded'])
    assert.equal(headers[name], undefined, name)
})

test('health and metrics are the gateway’s own', async (t) => {
  const { url, api } = await openWorld(t)
  const health = (await (await fetch(`${url}/health`)).json()) as { modules: string[] }
  assert.deepEqual(health.modules, ['gateway'])
  assert.match(await (await fetch(`${url}/metrics`)).text(), /platform_vpn_sessions/)
  assert.equal((await fetch(`${url}/health`, { method: 'POST' })).status, 405)
  assert.deepEqual(api.seen, [])
})

for (const [roles, status] of [
  [['admin'], 200],
  [['devops'], 200],
  [['auditor'], 200],
  [['service'], 403],
] as const) {
  test(`the state of the tunnels answers ${status} to ${roles.join()}`, async (t) => {
    const state = { at: '2026-01-31T02:00:00.000Z', sessions: [{ id: 'a', rtt_ms: null }] }
    const world = await openWorld(t, { tunnels: async () => state })
    const answer = await fetch(`${world.url}/tunnels/state`, { headers: await bearer(world, [...roles]) })
    assert.equal(answer.status, status)
    if (status === 200) assert.deepEqual(await answer.json(), state)
    assert.deepEqual(world.api.seen, [])
  })
}

test('an api that is down is 503, and works again as soon as it is up', async (t) => {
  const first = await startApiDouble()
  const { port } = new URL(first.url)
  await first[Symbol.asyncDispose]()
  const world = await openWorld(t, { apiUrl: () => first.url })
  const call = async (method: string) =>
    fetch(`${world.url}/orders`, { method, headers: await bearer(world) })
  for (const method of ['GET', 'POST']) {
    const answer = await call(method)
    assert.deepEqual(
      [answer.status, ((await answer.json()) as { code: string }).code],
      [503, 'api_unavailable'],
    )
  }
  assert.equal(world.logged.filter(({ message }) => message === 'the api does not answer').length, 1)
  await using _second = await startApiDouble(Number(port))
  assert.equal((await call('GET')).status, 200)
  assert.ok(world.logged.some(({ message }) => message === 'the api answers again'))
})

test('an answer 503 of the api is passed on, without a retry', async (t) => {
  const world = await openWorld(t)
  world.api.reply = (_request, response) =>
    sendJson(response, 503, { code: 'store_unavailable', message: 'Later.' })
  const answer = await fetch(`${world.url}/orders`, { headers: await bearer(world) })
  assert.deepEqual(
    [answer.status, await answer.json()],
    [503, { code: 'store_unavailable', message: 'Later.' }],
  )
  assert.equal(world.api.seen.length, 1)
})

test('an api that breaks the connection is 503', async (t) => {
  const world = await openWorld(t)
  world.api.reply = (_request, response) => void response.destroy()
  const answer = await fetch(`${world.url}/orders`, { method: 'POST', headers: await bearer(world) })
  assert.equal(answer.status, 503)
  assert.equal(world.api.seen.length, 1, 'a request that may have been carried out is not repeated')
})

test('a server that does not speak HTTP is 503', async (t) => {
  const server = createServer((socket) => socket.end('hello\r\n')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const world = await openWorld(t, { apiUrl: () => `http://127.0.0.1:${port}` })
  const answer = await fetch(`${world.url}/orders`, { method: 'POST', headers: await bearer(world) })
  assert.equal(answer.status, 503)
})

test('an api below a path gets requests below it', async (t) => {
  const world = await openWorld(t, { apiUrl: ({ url }) => `${url}/behind/it` })
  await fetch(`${world.url}/orders?a=/b?c`, { headers: await bearer(world) })
  assert.equal(world.api.seen[0]?.url, '/behind/it/orders?a=/b?c')
})

test('a body streams through in both directions', async (t) => {
  const world = await openWorld(t)
  const arrived = Promise.withResolvers<void>()
  const pieces = ['one ', 'two ', 'three']
  world.api.reply = ({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).write(body)
    void arrived.promise.then(() => response.end('end'))
  }
  const answer = await fetch(`${world.url}/stream`, {
    method: 'POST',
    headers: { ...(await bearer(world)), 'content-type': 'text/plain' },
    body: ReadableStream.from(pieces).pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.equal((await reader?.read())?.value, 'one two three')
  arrived.resolve()
  assert.equal((await reader?.read())?.value, 'end')
})

describe('a request is one request at the api too', () => {
  const BODIES: Readonly<Record<string, readonly [line: string, headers: string, body: string]>> = {
    'a body where none belongs': ['GET /a', 'Content-Length: 28', 'GET /smuggled HTTP/1.1\r\nX: '],
    'a chunked body where none belongs': [
      'GET /a',
      'Transfer-Encoding: chunked',
      '1c\r\nGET /smuggled HTTP/1.1\r\nX: \r\n0\r\n\r\n',
    ],
    'a body of a DELETE': [
      'DELETE /a',
      'Content-Type: text/plain\r\nContent-Length: 26',
      'GET /smuggled HTTP/1.1\r\n\r\n',
    ],
    'a chunked body of a DELETE': [
      'DELETE /a',
      'Content-Type: text/plain\r\nTransfer-Encoding: chunked',
      '1a\r\nGET /smuggled HTTP/1.1\r\n\r\n\r\n0\r\n\r\n',
    ],
    'a body without a type': ['POST /a', 'Content-Length: 26', 'GET /smuggled HTTP/1.1\r\n\r\n'],
    'a length that is to be dropped on the way': [
      'POST /a',
      'Content-Type: text/plain\r\nConnection: content-length\r\nContent-Length: 26',
      'GET /smuggled HTTP/1.1\r\n\r\n',
    ],
  }
  for (const [name, [line, headers, body]] of Object.entries(BODIES)) {
    test(`with ${name}`, async (t) => {
      const world = await openWorld(t)
      const { authorization } = await bearer(world)
      const common = `Host: a\r\nAuthorization: ${authorization}\r\n`
      await exchange(
        world.url,
        `${line} HTTP/1.1\r\n${common}${headers}\r\n\r\n${body}GET /b HTTP/1.1\r\n${common}Connection: close\r\n\r\n`,
      )
      await fetch(`${world.url}/c`, { headers: { authorization } })
      const paths = world.api.seen.map(({ url }) => url)
      assert.equal(paths.includes('/smuggled'), false)
      assert.ok(paths.includes('/c'), 'the connection to the api is still in step')
      assert.ok(paths.every((path) => ['/a', '/b', '/c'].includes(path)))
    })
  }
})

/** A request line as it is, which `fetch` would normalize. */
async function getRaw(world: Awaited<ReturnType<typeof openWorld>>, target: string) {
  const { authorization } = await bearer(world)
  const [answer] = await exchange(
    world.url,
    `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
  )
  return answer
}

const CLIMBING_PATHS = [
  '/..',
  '/a/../b',
  '/a/../../..',
  '/%2e%2e/b',
  '/.%2E/b',
  '/a/..%2fb',
  '/a\\..\\..\\..',
  '/a\\..\\..\\secret?x=1',
  '/\\..\\..',
  '/%5c..%5c..',
  '/a%5C%2e%2E%5cb',
  '/a/..;/b',
  '/a/%252e%252e/b',
  '//evil.example/a',
  '/\\evil.example/a',
  '/%5cevil.example/a',
]
for (const path of CLIMBING_PATHS) {
  test(`the path ${path} does not leave the prefix of the api`, async (t) => {
    const world = await openWorld(t, { apiUrl: ({ url }) => `${url}/only/here` })
    const answer = await getRaw(world, path)
    assert.equal(answer?.status, 400)
    assert.deepEqual(world.api.seen, [])
  })
}

for (const path of ['/a..b', '/...', '/a//b', '/a?b=/../..', '/%20', '/a/./b']) {
  test(`the path ${path} reaches the api as it is`, async (t) => {
    const world = await openWorld(t, { apiUrl: ({ url }) => `${url}/only/here` })
    const answer = await getRaw(world, path)
    assert.equal(answer?.status, 200)
    assert.deepEqual(
      world.api.seen.map(({ url }) => url),
      [`/only/here${path}`],
    )
  })
}

test('a kept connection that the api has closed is replaced', async (t) => {
  const world = await openWorld(t)
  const headers = await bearer(world)
  let isFirst = true
  world.api.reply = (_request, response) => {
    sendJson(response, 200, {})
    // As an api does whose idle limit is reached at the moment when the next request comes.
    if (isFirst) response.socket?.once('data', () => response.socket?.resetAndDestroy())
    isFirst = false
  }
  await (await fetch(`${world.url}/a`, { headers })).json()
  assert.equal((await fetch(`${world.url}/b`, { headers })).status, 200)
})

test('an answer that breaks off reaches the client as broken', async (t) => {
  const world = await openWorld(t)
  world.api.reply = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('begin', () => {
      response.destroy()
    })
  }
  const answer = await fetch(`${world.url}/a`, { headers: await bearer(world) })
  assert.equal(answer.status, 200)
  await assert.rejects(answer.text())
})

test('an api that fails during a long upload is 503', async (t) => {
  const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const world = await openWorld(t, { apiUrl: () => `http://127.0.0.1:${port}` })
  const answer = await fetch(`${world.url}/orders`, {
    method: 'POST',
    headers: { ...(await bearer(world)), 'content-type': 'text/plain' },
    body: 'x'.repeat(900_000),
  })
  assert.equal(answer.status, 503)
})

test('a client that disconnects aborts its request at the api', async (t) => {
  const world = await openWorld(t)
  const waiting = Promise.withResolvers<void>()
  world.api.reply = (_request, response) => {
    waiting.resolve()
    response.writeHead(200, { 'content-type': 'text/plain' }).write('begin')
    response.on('close', () => ended++)
  }
  let ended = 0
  const abort = new AbortController()
  const answer = await fetch(`${world.url}/a`, { headers: await bearer(world), signal: abort.signal })
  await waiting.promise
  assert.equal(answer.status, 200)
  abort.abort()
  await eventually('the end at the api', () => ended === 1, PATIENT)
})

test('after a stop nothing listens, and requests in flight are finished', async (t) => {
  const world = await openWorld(t)
  const mayAnswer = Promise.withResolvers<void>()
  world.api.reply = (_request, response) =>
    void mayAnswer.promise.then(() => sendJson(response, 200, { done: true }))
  const answer = fetch(`${world.url}/slow`, { headers: await bearer(world) })
  await eventually('the request at the api', () => world.api.seen.length === 1, PATIENT)
  const stopped = world.close()
  mayAnswer.resolve()
  assert.deepEqual(await (await answer).json(), { done: true })
  await stopped
  await assert.rejects(fetch(`${world.url}/health`))
})

test('an api whose name cannot be resolved is 503', async (t) => {
  const world = await openWorld(t, { apiUrl: () => 'http://api.invalid:9600' })
  const answer = await fetch(`${world.url}/orders`, { headers: await bearer(world) })
  assert.equal(answer.status, 503)
})

test('an api that is configured by name gets an address as Host', async (t) => {
  const world = await openWorld(t, { apiUrl: ({ url }) => url.replace('127.0.0.1', 'localhost') })
  await fetch(`${world.url}/orders`, { headers: await bearer(world) })
  assert.equal(world.api.seen[0]?.headers.host, `localhost:${new URL(world.api.url).port}`)
})

test('a refused token does not reach the api', async (t) => {
  const { url, api } = await openWorld(t, { apiUrl: () => NOWHERE })
  const answer = await fetch(`${url}/orders`, { headers: { authorization: 'Bearer abc' } })
  assert.equal(answer.status, 401)
  assert.deepEqual(api.seen, [])
})

test('a client that is still sending gets the answer of an api that does not read the body', async (t) => {
  const api = createHttpServer((_request, response) => sendJson(response, 413, { code: 'payload_too_large' }))
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  t.after(() => api.close().closeAllConnections())
  const { port } = api.address() as AddressInfo
  const world = await openWorld(t, { apiUrl: () => `http://127.0.0.1:${port}` })
  const { authorization } = await bearer(world)
  const head = ['POST /orders HTTP/1.1', `Authorization: ${authorization}`]
  assert.match(await sendThenRead(world.url, head, Buffer.alloc(8 * 1_048_576, ' ')), /^HTTP\/1\.1 413 /)
})

for (const [path, limit] of [
  ['/auth/login', 16_384],
  ['/payments/callbacks/stripe', 65_536],
  ['/ping/abc', 262_144],
] as const) {
  test(`a body that is too long for POST ${path} does not reach the api`, async (t) => {
    const { url, api } = await openWorld(t)
    const post = (bytes: number) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ' '.repeat(bytes),
      })
    const refused = await post(limit + 1)
    const { code, message } = (await refused.json()) as { code: string; message: string }
    assert.deepEqual([refused.status, code], [413, 'payload_too_large'])
    assert.equal(message, `The body is larger than ${limit / 1_024} KiB.`)
    assert.deepEqual(api.seen, [])
    await post(limit)
    assert.equal(api.seen.length, 1)
  })
}
