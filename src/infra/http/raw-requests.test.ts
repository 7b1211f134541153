import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { ConnectionLimits } from '../connections/connection-limits.ts'
import { answerBrokenRequests } from './raw-requests.ts'

/** What a client receives whose request breaks off in its body, after the server has begun its response or before. */
async function receivedBy(t: TestContext, begin: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => begin(response))
  answerBrokenRequests(new ConnectionLimits(server), () => undefined)
  const requested = once(server, 'request')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const received = text(socket)
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
  await requested
  socket.write('this is no chunk\r\n')
  return received
}

const statusesIn = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

test('a request that breaks off is answered', async (t) => {
  assert.deepEqual(statusesIn(await receivedBy(t, () => undefined)), ['400'])
})

test('no answer is written into a response that has begun', async (t) => {
  const received = await receivedBy(t, (response) => {
    response.writeHead(413, { 'Content-Length': '1000' }).write('too large')
  })
  assert.deepEqual(statusesIn(received), ['413'])
})
