import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { addressOf, openApi } from './client.ts'

const BODY = Buffer.alloc(4 * 1_048_576, ' ')

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

/** Sends the whole body before it reads, as simple clients do; returns what it then reads. */
async function sendThenRead(head: readonly string[]): Promise<string> {
  const { hostname, port } = addressOf(api.platform.url)
  const socket = connect(port, hostname)
  await once(socket, 'connect')
  socket.pause()
  const lines = [...head, 'Host: localhost', 'Connection: close', 'Content-Type: application/json', '', '']
  socket.write(lines.join('\r\n'))
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  socket.write(BODY, () => socket.resume())
  await once(socket, 'close')
  return text
}

const ADMIN = ['X-User-ID: tester', 'X-User-Roles: admin', `Content-Length: ${BODY.length}`]
for (const [what, status, head] of [
  ['a body that is too large', 413, ['POST /orders HTTP/1.1', ...ADMIN]],
  ['a method that the path does not have', 405, ['PUT /health HTTP/1.1', ...ADMIN]],
  ['a caller without an identity', 401, ['POST /orders HTTP/1.1', `Content-Length: ${BODY.length}`]],
  ['a path that is malformed', 400, ['POST /orders/%zz HTTP/1.1', ...ADMIN]],
] as const)
  test(`a client that closes its connection gets the answer to ${what}, although it is still sending`, async () => {
    assert.match(await sendThenRead(head), new RegExp(`^HTTP/1.1 ${status} `))
  })
