import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { scopeOf } from '../../../test/support/scope.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { HttpClient, type HttpBody } from './http.ts'

/** Is sent until the answer has arrived. */
const ENDLESS: HttpBody = {
  size: 1_000_000_000,
  async *chunks() {
    for (;;) {
      yield Buffer.alloc(1_024)
      await pause(1)
    }
  },
}

test('uploads that are refused before their end keep no connection', async (t) => {
  const scope = scopeOf(t)
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(413).end('too large')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = scope.adopt(new HttpClient(systemClock), (each) => each.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  // One more than the client has connections.
  for (let call = 0; call < 5; call++) {
    const answer = await client.send({ method: 'PUT', url, body: ENDLESS, idleMs: 5_000, timeoutMs: 5_000 })
    assert.deepEqual([answer.status, await answer.text()], [413, 'too large'])
  }
})
