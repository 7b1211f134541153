import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import os from 'node:os'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger, type LogFields, type Logger } from '../../kernel/logger.ts'
import { ConstantContent } from '../../wire/constant-content.ts'
import { ok, type AccessPolicy, type Route, routeOf } from '../../wire/route.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createOpenApiDocument } from './pages/openapi.ts'
import { createHttpServer, type HttpServerOptions } from './server.ts'

const route = routeOf('Things')

function echoRoute(access: Route['access']): Route {
  return route({
    method: 'POST',
    path: '/things/:name',
    operation: 'useThing',
    summary: 'Use a thing',
    access,
    params: Type.Object({ name: Type.String({ maxLength: 64 }) }),
    answers: { 200: { description: 'It was used.' } },
    read: ({ params, requestId, remoteAddress }) => ok({ ...params, requestId, remoteAddress }),
  })
}

const VERSIONED = route({
  method: 'GET',
  path: '/versioned',
  operation: 'readVersioned',
  summary: 'Read a thing',
  access: 'public',
  answers: { 200: { description: 'The thing.', hasTag: true } },
  read: () => ok({ a: 1 }, { etag: '"7"' }),
})

const PROBE = route({
  method: 'GET',
  path: '/probe',
  operation: 'probe',
  summary: 'Whether it works',
  access: 'public',
  isProbe: true,
  answers: { 200: { description: 'It does.' } },
  read: () => ok({}),
})

const CHANGING = route({
  method: 'GET',
  path: '/changing',
  operation: 'readChanging',
  summary: 'Read a thing that changes without its version',
  access: 'public',
  answers: { 200: { description: 'The thing.', hasTag: true, changesWithoutTag: true } },
  read: () => ok({ a: 1 }, { etag: '"7"' }),
})

const CONSTANT = route({
  method: 'GET',
  path: '/constant',
  operation: 'readConstant',
  summary: 'Read a page',
  access: 'public',
  answers: { 200: { description: 'The page.' } },
  read: () => ({ status: 200, body: new ConstantContent('a page', 'text/plain') }),
})

/** A server that knows its callers by the header `X-Caller`. */
async function serve(
  t: TestContext,
  access: Route['access'] = 'public',
  host = '127.0.0.1',
  options: Partial<HttpServerOptions> = {},
) {
  const lines: LogFields[] = []
  const logger: Logger = { ...silentLogger, info: (fields) => void lines.push(fields) }
  const { metrics, expose, close } = createMetrics({ logger })
  const server = await createHttpServer({
    routes: [echoRoute(access), VERSIONED, CHANGING, CONSTANT, PROBE],
    identify: ({ headers }) =>
      typeof headers['x-caller'] === 'string'
        ? { id: headers['x-caller'], name: 'caller', roles: [], via: 'headers' }
        : undefined,
    logger,
    metrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
    ...options,
  })
  t.after(async () => {
    await server.close()
    close()
  })
  const url = `http://${await server.listen({ host, port: 0 })}`
  const call = async (path: string, caller?: string) => {
    const headers = { 'x-request-id': 'request-1', ...(caller && { 'x-caller': caller }) }
    const response = await fetch(url + path, { method: 'POST', headers })
    return { status: response.status, body: (await response.json()) as { code?: string } }
  }
  return { url, call, lines, metrics: async () => (await expose()).body }
}

const OWN_THINGS: AccessPolicy = {
  description: 'For the owner of the thing.',
  allows: async ({ identity, params }) => params['name'] === identity.id,
}

test('a policy decides on each call by the caller and the path', async (t) => {
  const { call } = await serve(t, OWN_THINGS)
  assert.equal((await call('/things/ada', 'ada')).status, 200)
  const refused = await call('/things/bob', 'ada')
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
  assert.equal((await call('/things/ada')).status, 401)
})

test('a client that has the current version gets 304, and the whole object with any other tag', async (t) => {
  const { url } = await serve(t)
  const read = async (tag: string) => {
    const answer = await fetch(`${url}/versioned`, { headers: { 'if-none-match': tag } })
    return [answer.status, answer.headers.get('etag'), await answer.text()]
  }
  for (const tag of ['"7"', 'W/"7"', '"1", "7"', '*']) assert.deepEqual(await read(tag), [304, '"7"', ''])
  for (const tag of ['"6"', '7']) assert.deepEqual(await read(tag), [200, '"7"', '{"a":1}'])
  const changing = await fetch(`${url}/changing`, { headers: { 'if-none-match': '"7"' } })
  assert.equal(changing.status, 200)
})

test('each answer says what is left of the limit of the caller, also the one that refuses', async (t) => {
  const { url } = await serve(t, 'public', '127.0.0.1', { rateLimitPerMinute: 2 })
  const read = async () => {
    const { status, headers } = await fetch(`${url}/versioned`)
    assert.equal(headers.get('ratelimit-policy'), '"caller";q=2;w=60')
    const [, left, seconds] = /^"caller";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? []
    assert.ok(Number(seconds) > 0 && Number(seconds) <= 60)
    return [status, left, headers.has('retry-after')]
  }
  assert.deepEqual(await read(), [200, '1', false])
  assert.deepEqual(await read(), [200, '0', false])
  assert.deepEqual(await read(), [429, '0', true])
  assert.equal((await fetch(`${url}/probe`)).status, 200, 'a probe is no call')
  const unlimited = await serve(t)
  assert.equal((await fetch(`${unlimited.url}/versioned`)).headers.get('ratelimit'), null)
})

const SHOP = 'https://shop.example.org'

test('pages of the named origins may call, with no identity but a token; others may not', async (t) => {
  const { url } = await serve(t, 'authenticated', '127.0.0.1', { corsOrigins: [SHOP] })
  const ask = (method: string, headers: Record<string, string>, path = '/things/a') =>
    fetch(`${url}${path}`, { method, headers })
  const asked = { origin: SHOP, 'access-control-request-method': 'POST' }
  const preflight = await ask('OPTIONS', asked)
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, SHOP])
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
  assert.match(allowed, /authorization/)
  assert.doesNotMatch(allowed, /x-user|x-identity|cookie/)
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null)
  const read = await ask('GET', { origin: SHOP }, '/versioned')
  assert.deepEqual(
    [read.headers.get('access-control-allow-origin'), read.headers.get('vary')],
    [SHOP, 'Origin'],
  )
  assert.match(String(read.headers.get('access-control-expose-headers')), /ETag/)
  const constant = await ask('GET', { origin: SHOP }, '/constant')
  assert.equal(constant.headers.get('vary'), 'Origin, accept-encoding')
  const refused = await ask('POST', { origin: SHOP })
  assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [401, SHOP])
  for (const origin of ['https://evil.example', `${SHOP}.evil.example`, 'null']) {
    const answer = await ask('OPTIONS', { ...asked, origin })
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
  }
})

test('without origins nothing is said about them', async (t) => {
  const { url } = await serve(t)
  const headers = { origin: SHOP, 'access-control-request-method': 'GET' }
  const answer = await fetch(`${url}/versioned`, { method: 'OPTIONS', headers })
  const names = [...answer.headers.keys()].filter((name) => /^access-control|^vary$/.test(name))
  assert.deepEqual([answer.status, names], [405, []])
})

test('a policy that fails refuses the call with its error', async (t) => {
  const unavailable = () => {
    throw new AppError('unavailable', 'store_unavailable', 'The database is away.')
  }
  const { call } = await serve(t, { ...OWN_THINGS, allows: unavailable })
  assert.equal((await call('/things/ada', 'ada')).status, 503)
})

test('the OpenAPI document describes a policy', () => {
  const document = createOpenApiDocument([echoRoute(OWN_THINGS)], '0.0.0')
  const operation = document.paths['/things/{name}']?.['post']
  assert.deepEqual(
    [operation?.['x-roles'], operation?.['description']],
    ['policy', 'For the owner of the thing.'],
  )
  assert.ok(Object.hasOwn(Object(operation?.['responses']), 403))
})

test('a route gets the id of its request and the address of the client', async (t) => {
  const { call } = await serve(t)
  assert.deepEqual((await call('/things/ada')).body, {
    name: 'ada',
    requestId: 'request-1',
    remoteAddress: '127.0.0.1',
  })
})

test('the log has the address of the client, and the path of a request that no route matches, without its query', async (t) => {
  const { call, lines } = await serve(t)
  await call('/things/ada?token=secret')
  await call(`/nothing/${'x'.repeat(1_000)}?token=secret`)
  const [known, unknown] = lines
  assert.equal(known?.['remote_address'], '127.0.0.1')
  assert.deepEqual([known?.['route'], known?.['path']], ['/things/:name', undefined])
  assert.deepEqual([unknown?.['route'], unknown?.['status']], ['none', 404])
  assert.equal(unknown?.['path'], `/nothing/${'x'.repeat(247)}`)
})

test('responses are counted by the class of their status, each from 0', async (t) => {
  const { call, metrics } = await serve(t)
  assert.match(await metrics(), /^platform_http_responses_total\{class="5xx"\} 0$/m)
  await call('/things/ada')
  await call('/nothing')
  const text = await metrics()
  for (const [name, count] of Object.entries({ '2xx': 1, '3xx': 0, '4xx': 1, '5xx': 0 }))
    assert.match(text, new RegExp(`^platform_http_responses_total\\{class="${name}"\\} ${count}$`, 'm'))
})

test('a body may have 16 KiB while nobody knows who sends it, and 1 MiB then', async (t) => {
  const post = async (url: string, bytes: number) => {
    const headers = { 'content-type': 'application/json', 'x-caller': 'ada' }
    const response = await fetch(`${url}/things/a`, {
      method: 'POST',
      headers,
      body: `"${'x'.repeat(bytes - 2)}"`,
    })
    const { code, message } = (await response.json()) as { code: string; message: string }
    return `${response.status} ${code}: ${message}`
  }
  const [known, unknown] = [await serve(t, 'authenticated'), await serve(t)]
  assert.match(await post(unknown.url, 16_384), /^400 validation_failed/)
  assert.equal(await post(unknown.url, 16_385), '413 payload_too_large: The body is larger than 16 KiB.')
  assert.match(await post(known.url, 1_048_576), /^400 validation_failed/)
  assert.equal(await post(known.url, 1_048_577), '413 payload_too_large: The body is larger than 1 MiB.')
})

test('the OpenAPI document has the limit of each body', () => {
  const body = Type.Object({ name: Type.String() })
  const limitOf = (access: Route['access'], own = {}) =>
    createOpenApiDocument([{ ...echoRoute(access), body, ...own }], '0.0.0').paths['/things/{name}']?.[
      'post'
    ]?.['x-max-body-bytes']
  assert.deepEqual(
    [limitOf('public'), limitOf('authenticated'), limitOf('public', { maxBodyBytes: 65_536 })],
    [16_384, 1_048_576, 65_536],
  )
})

test('an Upgrade header is ignored where no protocol is offered', async (t) => {
  const { url } = await serve(t)
  const { hostname, port } = new URL(url)
  for (const upgrade of ['h2c', 'websocket']) {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `POST /things/a HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade, close\r\nUpgrade: ${upgrade}\r\n\r\n`,
    )
    assert.match(await text(socket), /^HTTP\/1\.1 200 /)
  }
})

for (const [framing, chunk] of [
  ['Content-Length: 3145728', (text: string) => text],
  ['Transfer-Encoding: chunked', (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`],
] as const) {
  test(`a client that is still sending gets the answer to a body that is too large, with ${framing}`, async (t) => {
    const { url } = await serve(t)
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname).setEncoding('utf8')
    const head = `POST /things/a HTTP/1.1\r\nHost: ${hostname}\r\n`
    const part = chunk('x'.repeat(1_048_576))
    socket.write(`${head}Content-Type: application/json\r\n${framing}\r\n\r\n${part}${chunk('x')}`)
    const [answer] = (await once(socket, 'data')) as [string]
    assert.match(answer, /^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n/i)
    const rest = part.slice(framing.startsWith('C') ? 1 : 0)
    socket.write(`${part}${rest}${framing.startsWith('C') ? '' : '0\r\n\r\n'}`)
    // It reads on until the body has ended, and carries out nothing behind it.
    socket.write(head)
    assert.equal(await text(socket), '')
  })
}

test('a server listens on all addresses where the interfaces of the host cannot be read', async (t) => {
  // A unit without AF_NETLINK in RestrictAddressFamilies.
  t.mock.method(os, 'networkInterfaces', () => {
    throw new Error('uv_interface_addresses returned Unknown system error 97')
  })
  const { url, call } = await serve(t, 'public', '0.0.0.0')
  assert.match(url, /^http:\/\/0\.0\.0\.0:\d+$/)
  assert.equal((await call('/things/a')).status, 200)
})
