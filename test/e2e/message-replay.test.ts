import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readStream } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { assertRefusal, assertSuccess, worldWithDatabase } from '../support/platform-commands.ts'
import { scopeOf } from '../support/scope.ts'

const COUNT = 20

/** A server whose store can be deleted, as a disk that is lost. */
async function openBus(t: TestContext) {
  const storeDir = join(scopeOf(t).use(temporaryDirectory()).path, 'store')
  mkdirSync(storeDir)
  const nats = await startNats({ jetstream: true, storeDir })
  t.after(() => nats.stop())
  return {
    url: nats.url,
    async loseStore() {
      await nats.kill()
      rmSync(storeDir, { recursive: true })
      await nats.restart()
    },
    orders: async () => {
      const stored = await readStream([nats.url], 'PLATFORM')
      const created = stored.filter(({ subject }) => subject === 'order.created')
      return created.map(({ payload }) => (JSON.parse(payload) as { subject: string }).subject)
    },
  }
}

test('a bus that has lost what it confirmed gets it again, in its order', async (t) => {
  const bus = await openBus(t)
  const { run, serve } = await worldWithDatabase(t)
  const platform = await serve({ BUS_SERVER: bus.url })
  const begin = new Date().toISOString()
  const deliver = async (number: number) => {
    const body = { order_id: `order-${number}`, platform: 'live', amount_cents: 1 }
    assert.equal((await platform.call('POST', '/orders', { body })).status, 201)
    await eventually('the bus confirms', async () => {
      const answer = await platform.call('GET', '/messages?subject=order.created&limit=1')
      return ((await answer.json()) as { items: { status: string }[] }).items[0]?.status === 'delivered'
    })
  }
  for (let number = 0; number < COUNT; number++) await deliver(number)
  const before = await bus.orders()
  assert.equal(before.length, COUNT)
  await bus.loseStore()
  await eventually('a new stream', async () => (await bus.orders().catch(() => null))?.length === 0)

  const said = assertSuccess(await run(['messages', 'replay', '--since', begin]))
  assert.match(said, /^\d\d+ messages wait/)
  assert.match(said, /; a running platform sends them again\n$/)
  await eventually('all messages are back', async () => (await bus.orders()).length === before.length)
  assert.deepEqual(await bus.orders(), before)
  const later = new Date().toISOString()
  await deliver(COUNT)
  const nothing = ['messages', 'replay', '--since', '2026-01-01T00:00:00Z', '--until', begin]
  assert.equal(assertSuccess(await run(nothing)), '0 messages wait for the bus\n')
  assertRefusal(
    await run(['messages', 'replay', '--since', 'yesterday']),
    2,
    /--since: must be a time in RFC 3339/,
  )
  assertRefusal(
    await run(['messages', 'replay', '--since', later, '--until', begin]),
    2,
    /--since: must be before --until/,
  )
  assertRefusal(await run(['messages', 'replay']), 2, /--since/)
})
