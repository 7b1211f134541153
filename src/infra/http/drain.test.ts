import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { ServerDrain } from './drain.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const answer: RequestListener = (_request, response) => void response.end('done')

async function listening(t: TestContext, listener = answer, firstRequestMs = 30_000) {
  const server = createServer(listener)
  const drain = new ServerDrain(server, { firstRequestMs })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  return { server, drain, connect: () => connectTo(server) }
}

function connectTo(server: Server): Socket {
  return connect((server.address() as AddressInfo).port, '127.0.0.1')
}

/** Everything that comes until the server closes the connection. */
async function readAll(socket: Socket): Promise<string> {
  return text(socket)
}

test('requests whose connections wait in the queue of the kernel are answered', async (t) => {
  const { drain, connect } = await listening(t)
  const answers = Array.from({ length: 50 }, () => {
    const socket = connect()
    socket.write(REQUEST)
    return readAll(socket)
  })
  // The sockets connect in the next tick; the server accepts none before the next turn of the event loop.
  await new Promise((resolve) => process.nextTick(resolve))
  await drain.close()
  for (const each of await Promise.all(answers)) {
    assert.match(each, /^HTTP\/1\.1 200 /)
    assert.match(each, /\r\nconnection: close\r\n/i)
  }
})

test('after a close nothing listens', async (t) => {
  const { server, drain } = await listening(t)
  const { port } = server.address() as AddressInfo
  await drain.close()
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})

test('an accepted connection may still send its first request', async (t) => {
  const { server, drain, connect } = await listening(t)
  const socket = connect()
  await once(server, 'connection')
  const closed = drain.close()
  await once(socket, 'ready')
  socket.write(REQUEST)
  assert.match(await readAll(socket), /done$/)
  await closed
})

test('a connection that sends nothing does not hold up the close', async (t) => {
  const { server, drain, connect } = await listening(t, answer, 1)
  connect().on('error', () => undefined)
  await once(server, 'connection')
  await drain.close()
})

test('a request that is being answered is finished, and its connection closed', async (t) => {
  const mayAnswer = Promise.withResolvers<void>()
  const { server, drain, connect } = await listening(t, (_request, response) => {
    response.write('begin ')
    void mayAnswer.promise.then(() => response.end('end'))
  })
  const socket = connect()
  socket.write(REQUEST)
  await once(server, 'request')
  const closed = drain.close()
  mayAnswer.resolve()
  assert.match(await readAll(socket), /begin [^]*end/)
  await closed
})

test('an idle connection is closed at once', async (t) => {
  const { server, drain } = await listening(t)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const { port } = server.address() as AddressInfo
  const [response] = (await once(get({ port, agent }), 'response')) as [NodeJS.ReadableStream]
  await text(response)
  await drain.close()
})
