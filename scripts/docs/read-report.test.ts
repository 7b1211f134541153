import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { readReport } from './read-report.ts'

const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy'

test('an answer with another status than 200 is an error that names the address and the text', async (t) => {
  const server = createServer((socket) => socket.end(REFUSAL)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
  await assert.rejects(readReport(url), { message: `GET ${url}: expected the status 200, got 503: busy` })
})
