import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { eventually } from './eventually.ts'
import { startFaultProxy, type Fault } from './fault-proxy.ts'
import { scopeOf } from './scope.ts'

/** A client of a server that sends back what it gets, with the proxy between them. */
async function world(t: TestContext, fault: Fault = {}) {
  const scope = scopeOf(t)
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0)
  scope.defer(() => void server.close())
  await once(server, 'listening')
  const proxy = scope.use(await startFaultProxy((server.address() as AddressInfo).port))
  proxy.disturb(fault)
  const client: Socket = connect(proxy.port, '127.0.0.1')
  scope.defer(() => void client.destroy())
  let heard = ''
  let end = ''
  client.on('data', (chunk) => (heard += String(chunk)))
  client.on('end', () => (end ||= 'ended'))
  client.on('error', () => (end ||= 'broken'))
  return { proxy, client, heard: () => heard, end: () => end }
}

test('an undisturbed connection carries everything', async (t) => {
  const { client, heard, proxy } = await world(t)
  client.write('hello')
  await eventually('the echo', () => heard() === 'hello')
  assert.deepEqual([proxy.taken, proxy.mostOpen, proxy.requests], [1, 1, 1])
})

test('what is held arrives when the fault is over', async (t) => {
  const { client, heard, proxy } = await world(t)
  client.write('a')
  await eventually('the echo', () => heard() === 'a')
  proxy.disturb({ hold: true })
  client.write('b')
  const other = connect(proxy.port, '127.0.0.1')
  t.after(() => other.destroy())
  await eventually('the other one', () => proxy.taken === 2)
  assert.equal(heard(), 'a')
  proxy.disturb()
  await eventually('the rest', () => heard() === 'ab')
})

for (const [fault, heardFirst, ending] of [
  [{ resetAfter: 8 }, 'hello', 'broken'],
  [{ endAfter: 8 }, 'hel', 'ended'],
  [{ resetAtRequest: 1 }, '', 'broken'],
] as const satisfies readonly (readonly [Fault, string, string])[]) {
  test(`${JSON.stringify(fault)} leaves a connection ${ending}`, async (t) => {
    const { client, heard, end } = await world(t, fault)
    client.write('hello')
    await eventually('the end', end)
    assert.equal(end(), ending)
    assert.ok(heardFirst.startsWith(heard()), heard())
  })
}

test('a slow connection carries everything in the end', async (t) => {
  const { client, heard } = await world(t, { delayMs: 5, bytesPerSecond: 1_000 })
  client.write('x'.repeat(100))
  await eventually('all of it', () => heard().length === 100)
})
