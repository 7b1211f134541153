import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { openApi } from './client.ts'
import { exchange, type RawAnswer } from './raw-socket.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const IDENTITY = 'X-User-ID: tester\r\nX-User-Roles: admin\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const CLOSE = 'Connection: close\r\n'

const get = (headers: string, target = '/orders') =>
  `GET ${target} HTTP/1.1\r\n${headers}${IDENTITY}${CLOSE}\r\n`
const post = (headers: string, body: string) =>
  `POST /orders HTTP/1.1\r\nHost: 127.0.0.1\r\n${IDENTITY}${JSON_TYPE}${headers}\r\n${body}`
/** A second request, hidden in the body of the first one. */
const SMUGGLED = 'GET /auth/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

function assertError({ status, headers, error }: RawAnswer, expected: number): void {
  assert.equal(status, expected)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,128}$/)
  const { code, message } = error()
  assert.match(code, /^[a-z]+(_[a-z]+)*$/)
  assert.match(message, /\S\.$/)
}

/** Every request is refused with one answer, nothing in it is carried out, and the connection ends. */
function refuses(requests: Readonly<Record<string, readonly [status: number, request: string]>>): void {
  for (const [name, [status, request]] of Object.entries(requests)) {
    test(`refuses ${name} with ${status}`, async () => {
      const answers = await exchange(api.platform.url, request)
      assert.ok(answers[0], 'there is an answer')
      assertError(answers[0], status)
      assert.ok(
        answers.every((answer) => answer.status >= 400 && answer.status < 500),
        JSON.stringify(answers),
      )
    })
  }
}

afterEach(async () => {
  const { status } = await api.send({ method: 'GET', path: '/health', headers: {} })
  assert.equal(status, 200, 'the server lives on')
})

test('accepts a well-framed request', async () => {
  const [answer] = await exchange(api.platform.url, get('Host: 127.0.0.1\r\n'))
  assert.equal(answer?.status, 200)
})

describe('headers with one value', () => {
  for (const header of [
    'Content-Type',
    'Authorization',
    'Idempotency-Key',
    'Last-Event-ID',
    'Range',
    'If-Range',
  ])
    test(`refuses two ${header}`, async () => {
      const twice = `${header}: a\r\n${header.toLowerCase()}: a\r\n`
      const [answer] = await exchange(api.platform.url, get(`Host: 127.0.0.1\r\n${twice}`))
      assert.ok(answer)
      assertError(answer, 400)
      assert.deepEqual(
        answer.error().details?.map(({ path }) => path),
        [header],
      )
    })

  test('takes several lines of a list', async () => {
    const lists = 'If-None-Match: "a"\r\nIf-None-Match: "b"\r\nAccept: text/plain\r\nAccept: */*\r\n'
    const [answer] = await exchange(api.platform.url, get(`Host: 127.0.0.1\r\n${lists}`))
    assert.equal(answer?.status, 200)
  })
})

describe('the request line', () => {
  refuses({
    'an absolute-form target': [400, get('Host: 127.0.0.1\r\n', 'http://127.0.0.1/orders')],
    'an absolute-form target of another host': [
      400,
      get('Host: 127.0.0.1\r\n', 'http://evil.example/orders'),
    ],
    'an asterisk': [400, `OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n${IDENTITY}${CLOSE}\r\n`],
    'a target without a slash': [400, get('Host: 127.0.0.1\r\n', 'orders')],
    'a target with a space': [400, get('Host: 127.0.0.1\r\n', '/orders /x')],
    'a target with a byte above ASCII': [400, get('Host: 127.0.0.1\r\n', '/orders/\xe9')],
    'a target with a NUL': [400, get('Host: 127.0.0.1\r\n', '/orders/\0')],
    'a target that does not decode': [400, get('Host: 127.0.0.1\r\n', '/orders/%ff')],
    'a target that decodes to no character': [400, get('Host: 127.0.0.1\r\n', '/orders/%ED%A0%80')],
    'a target with a lone percent sign': [400, get('Host: 127.0.0.1\r\n', '/orders/%')],
    'a target of 20 kB': [431, get('Host: 127.0.0.1\r\n', `/orders?platform=${'a'.repeat(20_000)}`)],
    'an unknown version': [400, `GET /orders HTTP/1.2\r\nHost: 127.0.0.1\r\n\r\n`],
    'HTTP/2': [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    TLS: [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    'a bare LF': [400, 'GET /orders HTTP/1.1\nHost: 127.0.0.1\n\n'],
  })
})

describe('the method', () => {
  const request = (method: string, target = '/orders') =>
    `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${IDENTITY}${CLOSE}\r\n`
  refuses({
    TRACE: [405, request('TRACE')],
    'TRACE of nothing': [404, request('TRACE', '/nothing')],
    CONNECT: [405, request('CONNECT', '127.0.0.1:22')],
    'CONNECT to a path': [405, request('CONNECT')],
    PROPFIND: [405, request('PROPFIND')],
    'PROPFIND of an object': [405, request('PROPFIND', '/orders/a-1')],
    'PROPFIND of nothing': [404, request('PROPFIND', '/nothing')],
    QUERY: [405, request('QUERY')],
    'QUERY of nothing': [404, request('QUERY', '/nothing')],
    OPTIONS: [405, request('OPTIONS')],
    PATCH: [405, request('PATCH')],
    'POST of the document': [405, request('POST', '/openapi.json')],
    'a method of our own': [400, request('BREW')],
    'a method in lower case': [400, request('get')],
  })

  test('is refused with the methods that the path has', async () => {
    const [answer] = await exchange(api.platform.url, request('DELETE'))
    assert.equal(answer?.headers['allow'], 'POST, GET, HEAD')
    const [login] = await exchange(api.platform.url, request('GET', '/auth/login'))
    assert.deepEqual([login?.status, login?.headers['allow']], [405, 'POST'])
    const [order] = await exchange(api.platform.url, request('PROPFIND', '/orders/a-1'))
    assert.equal(order?.headers['allow'], 'GET, PUT, HEAD')
  })

  test('HEAD answers as GET does, without the body', async () => {
    const answer = await api.send({ method: 'HEAD', path: '/orders' })
    assert.deepEqual([answer.status, answer.text], [200, ''])
  })
})

describe('Host', () => {
  refuses({
    'a request without one': [400, get('')],
    'two of them': [400, get('Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n')],
    'two of them in different case': [400, get('Host: 127.0.0.1\r\nhOST: evil.example\r\n')],
    'two of them in HTTP/1.0': [400, `GET /orders HTTP/1.0\r\nHost: a\r\nHost: b\r\n${IDENTITY}\r\n`],
  })
})

describe('the headers', () => {
  const host = 'Host: 127.0.0.1\r\n'
  refuses({
    'a folded line': [400, get(`${host}X-A: a\r\n b\r\n`)],
    'a space before the colon': [400, get(`${host}X-A : a\r\n`)],
    'a space before the first name': [400, get(` X-A: a\r\n${host}`)],
    'a line without a colon': [400, get(`${host}X-A\r\n`)],
    'an empty name': [400, get(`${host}: a\r\n`)],
    'a NUL in a value': [400, get(`${host}X-A: a\0b\r\n`)],
    'a NUL in a name': [400, get(`${host}X-\0A: a\r\n`)],
    'a byte above ASCII in a name': [400, get(`${host}X-\xe9: a\r\n`)],
    'a bare LF': [400, get(`${host}X-A: a\nX-B: b\r\n`)],
    'a bare CR': [400, get(`${host}X-A: a\rX-User-Roles: admin\r\n`)],
    'a value of 20 kB': [431, get(`${host}X-A: ${'a'.repeat(20_000)}\r\n`)],
    '20 kB in many': [431, get(host + `X-A: ${'a'.repeat(90)}\r\n`.repeat(200))],
    'two thousand of them': [431, get(host + 'a:\r\n'.repeat(2_000))],
    'an expectation that nobody has': [417, get(`${host}Expect: a miracle\r\n`)],
  })
})

describe('the end of a body', () => {
  refuses({
    'a length and chunks': [
      400,
      post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
    ],
    'chunks and a length': [
      400,
      post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${SMUGGLED}`),
    ],
    'two lengths': [400, post('Content-Length: 2\r\nContent-Length: 30\r\n', `{}${SMUGGLED}`)],
    'the same length twice': [400, post('Content-Length: 2\r\nContent-Length: 2\r\n', '{}')],
    'two lengths in one line': [400, post('Content-Length: 2, 2\r\n', '{}')],
    'a length with a sign': [400, post('Content-Length: +2\r\n', '{}')],
    'a negative length': [400, post('Content-Length: -2\r\n', '{}')],
    'a length in hexadecimal': [400, post('Content-Length: 0x2\r\n', '{}')],
    'a length beyond all numbers': [400, post(`Content-Length: ${'9'.repeat(30)}\r\n`, '{}')],
    'an unknown transfer coding': [400, post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
    'a transfer coding before chunked': [
      400,
      post(`Transfer-Encoding: gzip, chunked\r\n${CLOSE}`, '0\r\n\r\n'),
    ],
    'a transfer coding behind chunked': [
      400,
      post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${SMUGGLED}`),
    ],
    'chunked twice': [
      400,
      post(`Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n${CLOSE}`, '0\r\n\r\n'),
    ],
    'a chunk whose length is no number': [
      400,
      post('Transfer-Encoding: chunked\r\n', `zz\r\n{}\r\n0\r\n\r\n`),
    ],
    'a chunk that is longer than it says': [
      400,
      post('Transfer-Encoding: chunked\r\n', `2\r\n{}XX\r\n0\r\n\r\n`),
    ],
    'a chunk with a bare LF': [400, post('Transfer-Encoding: chunked\r\n', `2\n{}\n0\n\n`)],
    'a chunk length beyond all numbers': [
      400,
      post('Transfer-Encoding: chunked\r\n', `${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`),
    ],
    'a flood of chunk extensions': [
      400,
      post('Transfer-Encoding: chunked\r\n', `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
    ],
  })
})

test('a request hidden behind a whole one is one of its own, with no identity of the first', async () => {
  const body = '{"order_id":"first","platform":"live","amount_cents":1}'
  const answers = await exchange(
    api.platform.url,
    post(
      `Content-Length: ${body.length}\r\n`,
      `${body}GET /auth/me HTTP/1.1\r\nHost: 127.0.0.1\r\n${CLOSE}\r\n`,
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 401],
  )
})

test('an order that a broken request asked for was not made', async () => {
  const body = '{"order_id":"smuggled","platform":"live","amount_cents":1}'
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
  for (const rest of ['zz\r\n', `5\r\n${'a'.repeat(9)}`])
    await exchange(api.platform.url, post('Transfer-Encoding: chunked\r\n', chunk + rest))
  assert.equal((await api.send({ method: 'GET', path: '/orders/smuggled' })).status, 404)
})
