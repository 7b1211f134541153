import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { awaitGreeting, MAX_LINE_BYTES, MAX_PAYLOAD_BYTES, parseServer, ProtocolLimits } from './transport.ts'

const payload = fc.string({ maxLength: 300 }).map((text) => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(`MSG a.b 1 ${bytes.length}\r\n`), bytes, Buffer.from('\r\n')])
})
const line = fc
  .constantFrom('PING\r\n', 'PONG\r\n', '+OK\r\n', "-ERR 'x'\r\n", 'INFO {"a":1}\r\n')
  .map((text) => Buffer.from(text))
const traffic = fc.array(fc.oneof(line, payload), { minLength: 1 }).map((parts) => Buffer.concat(parts))
const LIMITED = 'the server sent a line of more than 65536 bytes'

/** The first problem in the bytes, split at the given places. */
function problemIn(bytes: Buffer, cuts: readonly number[] = []): string | undefined {
  const limits = new ProtocolLimits()
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
  return chunks.map((chunk) => limits.check(chunk)).find((problem) => problem !== undefined)
}

test('traffic that keeps the limits has no problem, and a long line behind it is found, however both are split', () => {
  const cuts = fc.array(fc.nat(2_000), { maxLength: 20 })
  fc.assert(
    fc.property(traffic, cuts, (bytes, at) => {
      assert.equal(problemIn(bytes, at), undefined)
      const long = Buffer.concat([bytes, Buffer.from(`INFO ${'x'.repeat(MAX_LINE_BYTES)}`)])
      assert.equal(problemIn(long, at), LIMITED)
    }),
  )
})

test('a line may have the limit and no byte more, with or without its end', () => {
  assert.equal(problemIn(Buffer.alloc(MAX_LINE_BYTES, '+OK ')), undefined)
  assert.equal(problemIn(Buffer.alloc(MAX_LINE_BYTES + 1, '+OK ')), LIMITED)
  assert.equal(problemIn(Buffer.from(`+OK${' '.repeat(MAX_LINE_BYTES)}\r\n`), [1, 2, 3]), LIMITED)
})

for (const verb of ['MSG a 1', 'HMSG a 1 reply 12', 'msg a 1\treply']) {
  test(`the payload behind "${verb}" may have the limit and no byte more`, () => {
    const largest = Buffer.from(
      `${verb} ${MAX_PAYLOAD_BYTES}\r\n${'x'.repeat(MAX_PAYLOAD_BYTES)}\r\nPING\r\n`,
    )
    assert.equal(problemIn(largest, [9, 100_000]), undefined)
    assert.match(
      problemIn(Buffer.from(`${verb} ${MAX_PAYLOAD_BYTES + 1}\r\n`)) ?? '',
      /more than 8388608 bytes/,
    )
  })
}

test('a line that is not part of the protocol is found at its first wrong byte', () => {
  for (const bytes of ['X', 'PINX', 'PING\r\nSSH', 'MSG a 1 1\r\nx\r\nx', 'HTTP']) {
    assert.match(problemIn(Buffer.from(bytes), [1, 2, 3]) ?? '', /violated the protocol/, bytes)
    assert.match(problemIn(Buffer.from(bytes)) ?? '', /violated the protocol/, bytes)
  }
})

test('a server that is late is told from a name that is not resolved and an address that does not answer', async (t) => {
  const late = (server: string) => awaitGreeting(parseServer(server), AbortSignal.abort())
  await assert.rejects(
    late('nats://bus.example.net'),
    /^Error: the name bus\.example\.net is not resolved within/,
  )
  await assert.rejects(late('nats://127.0.0.1:1'), /^Error: no connection to nats:\/\/127\.0\.0\.1:1 within/)
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const stop = new AbortController()
  const { port } = silent.address() as AddressInfo
  const greeting = awaitGreeting(parseServer(`nats://127.0.0.1:${port}`), stop.signal)
  greeting.catch(() => undefined)
  await once(silent, 'connection')
  await nextTurn()
  await nextTurn()
  stop.abort()
  await assert.rejects(greeting, /^Error: no greeting from nats:\/\/127\.0\.0\.1:\d+ within/)
})
