import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { openApi } from './client.ts'
import { sendThenRead } from './raw-socket.ts'

const BODY = Buffer.alloc(4 * 1_048_576, ' ')

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const ADMIN = ['X-User-ID: tester', 'X-User-Roles: admin']
for (const expect of [[], ['Expect: 100-continue']])
  test(`a client that announces a body that is too large is answered before it sends it (${expect.join()})`, async () => {
    const { hostname, port } = new URL(api.platform.url)
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    const head = ['POST /orders HTTP/1.1', ...ADMIN, 'Host: localhost', 'Connection: close', ...expect]
    const length = `Content-Length: ${BODY.length}`
    socket.write(`${[...head, 'Content-Type: application/json', length].join('\r\n')}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [string]
    assert.match(answer, /^HTTP\/1\.1 413 /)
    // The answer is complete, and the server still reads.
    assert.match(answer, /"code":"payload_too_large"/)
    socket.write(BODY)
    await once(socket, 'end')
  })

for (const [what, status, head] of [
  ['a body that is too large', 413, ['POST /orders HTTP/1.1', ...ADMIN]],
  ['a method that the path does not have', 405, ['PUT /health HTTP/1.1', ...ADMIN]],
  ['a caller without an identity', 401, ['POST /orders HTTP/1.1']],
  ['a path that is malformed', 400, ['POST /orders/%zz HTTP/1.1', ...ADMIN]],
] as const)
  test(`a client that closes its connection gets the answer to ${what}, although it is still sending`, async () => {
    assert.match(await sendThenRead(api.platform.url, head, BODY), new RegExp(`^HTTP/1.1 ${status} `))
  })
