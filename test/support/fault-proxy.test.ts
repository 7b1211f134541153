import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { eventually } from './eventually.ts'
import { startFaultProxy, type Fault } from './fault-proxy.ts'
import { scopeOf } from './scope.ts'

/** A client of an echo server, with the proxy between them. */
async function world(t: TestContext, fault: Fault = {}) {
  const scope = scopeOf(t)
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0)
  scope.defer(() => void server.close())
  await once(server, 'listening')
  const proxy = scope.use(await startFaultProxy((server.address() as AddressInfo).port))
  proxy.disturb(fault)
  const client: Socket = connect(proxy.port, '127.0.0.1')
  scope.defer(() => void client.destroy())
  let received = ''
  let end = ''
  client.on('data', (chunk) => (received += String(chunk)))
  client.on('end', () => (end ||= 'ended'))
  client.on('error', () => (end ||= 'broken'))
  return { proxy, client, received: () => received, end: () => end }
}

test('a connection without a fault transmits everything', async (t) => {
  const { client, received, proxy } = await world(t)
  client.write('hello')
  await eventually('the echo', () => received() === 'hello')
  assert.deepEqual([proxy.taken, proxy.mostOpen, proxy.requests], [1, 1, 1])
})

test('held data arrives when the fault ends', async (t) => {
  const { client, received, proxy } = await world(t)
  client.write('a')
  await eventually('the echo', () => received() === 'a')
  proxy.disturb({ hold: true })
  client.write('b')
  const other = connect(proxy.port, '127.0.0.1')
  t.after(() => other.destroy())
  await eventually('the other one', () => proxy.taken === 2)
  assert.equal(received(), 'a')
  proxy.disturb()
  await eventually('the rest', () => received() === 'ab')
})

for (const [fault, expected, ending] of [
  [{ resetAfter: 8 }, 'hello', 'broken'],
  [{ endAfter: 8 }, 'hel', 'ended'],
  [{ resetAtRequest: 1 }, '', 'broken'],
] as const satisfies readonly (readonly [Fault, string, string])[]) {
  test(`${JSON.stringify(fault)} leaves a connection ${ending}`, async (t) => {
    const { client, received, end } = await world(t, fault)
    client.write('hello')
    await eventually('the end', end)
    assert.equal(end(), ending)
    // A reset may overtake what was sent before it.
    if (ending === 'ended') assert.equal(received(), expected)
    else assert.ok(expected.startsWith(received()), received())
  })
}

test('a slow connection transmits everything eventually', async (t) => {
  const { client, received } = await world(t, { delayMs: 5, bytesPerSecond: 1_000 })
  client.write('x'.repeat(100))
  await eventually('all of it', () => received().length === 100)
})
