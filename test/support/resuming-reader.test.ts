import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { eventually } from './eventually.ts'
import { ResumingReader } from './resuming-reader.ts'

test('a reader leaves a server that does not answer', async (t) => {
  let connections = 0
  const server = createServer(() => (connections += 1)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const reader = new ResumingReader(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '/events')
  await eventually('a connection', () => connections === 1)
  reader.kill()
  await eventually('the next connection', () => connections === 2)
  await reader[Symbol.asyncDispose]()
  assert.equal(connections, 2)
})
