import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { ConnectionLimits, type ConnectionLimitOptions } from './connection-limits.ts'

const MIB = 1_048_576

/** A server that answers when the test says so. */
async function serve(t: TestContext, options?: ConnectionLimitOptions) {
  const begun: { request: IncomingMessage; response: ServerResponse }[] = []
  const server = createServer((request, response) => void begun.push({ request, response }))
  const limits = new ConnectionLimits(server, options)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const open = () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    t.after(() => socket.destroy())
    return socket
  }
  return { server, limits, begun, open }
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

test('of thousands of requests that are sent at once eight are carried out, and one more is parsed', async (t) => {
  const { begun, open, server } = await serve(t)
  let parsed = 0
  server.prependListener('request', () => void parsed++)
  for (let index = 0; index < 64; index++) open().write(get('/').repeat(4_000))
  await eventually('the first requests', () => begun.length === 64 * 8)
  assert.equal(parsed, 64 * 9)
  begun[0]?.response.end()
  await eventually('another request', () => begun.length === 64 * 8 + 1)
  await eventually('one more to wait', () => parsed === 64 * 9 + 1)
})

test('a request that waits is complete, so that the server does not time it out', async (t) => {
  const { begun, open, server } = await serve(t)
  const waiting: IncomingMessage[] = []
  server.prependListener('request', (request: IncomingMessage) => void waiting.push(request))
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'
  open().write(post.repeat(20))
  open().write(get('/').repeat(20))
  await eventually('the first requests', () => begun.length === 2 * 8)
  await eventually('those that wait', () => waiting.length === 2 * 9)
  assert.ok(waiting.every(({ complete }) => complete))
})

test('all requests are answered in their order', async (t) => {
  const { begun, open } = await serve(t)
  const socket = open()
  const paths = Array.from({ length: 100 }, (_, index) => `/${index}`)
  socket.write(paths.map((path, index) => get(path, index === 99 ? 'Connection: close\r\n' : '')).join(''))
  const answers = text(socket)
  let answered = 0
  while (answered < paths.length) {
    await eventually('a request', () => begun.length > answered)
    // The last one first: only the order of the requests counts.
    for (const { request, response } of begun.slice(answered).reverse()) response.end(`(${request.url})`)
    answered = begun.length
  }
  assert.deepEqual(
    [...(await answers).matchAll(/\((.*?)\)/g)].map(([, path]) => path),
    paths,
  )
})

test('bodies behind waiting requests arrive', async (t) => {
  const { begun, open } = await serve(t)
  const body = 'x'.repeat(MIB)
  const socket = open()
  socket.write(get('/').repeat(20))
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${MIB}\r\n\r\n${body}${get('/last')}`)
  for (let index = 0; index < 20; index++) {
    await eventually('a request', () => begun.length > index)
    begun[index]?.response.end()
  }
  await eventually('the request with a body', () => begun.length > 20)
  const post = begun[20] as (typeof begun)[number]
  assert.equal((await text(post.request)).length, MIB)
  post.response.end()
  await eventually('the last request', () => begun[21]?.request.url === '/last')
})

test('requests that wait when their client leaves are not carried out', async (t) => {
  const { begun, open, limits } = await serve(t)
  const socket = open()
  socket.write(get('/').repeat(500))
  await eventually('the first requests', () => begun.length === 8)
  const closed = begun.map(({ response }) => once(response, 'close'))
  socket.resetAndDestroy()
  begun[0]?.response.end('x')
  await eventually('the end of the connection', () => {
    begun.at(-1)?.response.end('x')
    return begun[0]?.request.socket.destroyed
  })
  // Each one that has begun learns that its client has left.
  await Promise.all(closed)
  assert.ok(begun.length < 20, `${begun.length} requests were carried out`)
  assert.equal(limits.unsentBytes, 0)
})

/** Does not read. */
function openUnread(open: () => Socket, requests: string): Socket {
  const socket = open().pause()
  socket.write(requests)
  return socket
}

test('a client that leaves much unread begins no further request', async (t) => {
  const { begun, open } = await serve(t)
  const socket = openUnread(open, get('/'))
  await eventually('the request', () => begun.length === 1)
  begun[0]?.response.end(Buffer.alloc(16 * MIB))
  socket.write(get('/second'))
  const other = open()
  other.write(get('/other'))
  await eventually('the request of another client', () =>
    begun.some(({ request }) => request.url === '/other'),
  )
  assert.deepEqual(
    begun.map(({ request }) => request.url),
    ['/', '/other'],
  )
  socket.resume()
  await eventually('the second request', () => begun.at(-1)?.request.url === '/second')
})

test('above the limit of unread answers the client that has not read for a while is cut, else the worst one', async (t) => {
  let now = 0
  const { begun, open, limits } = await serve(t, { maxUnsentBytes: 60 * MIB, now: () => now })
  const hold = async (mebibytes: number) => {
    const index = begun.length
    const socket = openUnread(open, get('/'))
    await eventually('the request', () => begun.length > index)
    const { response } = begun[index] as (typeof begun)[number]
    limits.hold(response, mebibytes * MIB)
    response.end(Buffer.alloc(mebibytes * MIB))
    return { socket, response }
  }
  const [small, large] = [await hold(20), await hold(30)]
  const third = await hold(11)
  assert.deepEqual(
    [small, large, third].map(({ response }) => response.req.socket.destroyed),
    [false, true, false],
  )
  now += 1_000
  const [last, more] = [await hold(21), await hold(25)]
  assert.deepEqual(
    [small, third, last, more].map(({ response }) => response.req.socket.destroyed),
    [true, false, false, false],
  )
  for (const each of [third, last, more]) each.socket.destroy()
  await eventually('nothing is held', () => limits.unsentBytes === 0)
})

test('a connection is cut when its client takes none of the bytes that wait', async (t) => {
  const { begun, open, limits } = await serve(t, { progressMs: 50 })
  openUnread(open, get('/'))
  await eventually('the request', () => begun.length === 1)
  const { request, response } = begun[0] as (typeof begun)[number]
  response.end(Buffer.alloc(16 * MIB))
  await once(response, 'close')
  assert.equal(response.writableFinished, false)
  assert.ok(limits.wasCut(request.socket))
})

test('a request that takes longer than that is not cut', async (t) => {
  const { begun, open, server } = await serve(t, { progressMs: 50 })
  const timedOut = once(server, 'timeout')
  const socket = open()
  socket.write(get('/', 'Connection: close\r\n'))
  await eventually('the request', () => begun.length === 1)
  await timedOut
  begun[0]?.response.end('done')
  assert.match(await text(socket), /done$/)
})

test('bytes that are no request are answered', async (t) => {
  const { open } = await serve(t)
  const socket = open()
  socket.write('no request\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 400 /)
})
