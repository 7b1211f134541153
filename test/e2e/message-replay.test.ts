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
    payloads: async () => {
      const stored = await readStream([nats.url], 'PLATFORM')
      return stored.filter(({ subject }) => subject === 'order.note').map(({ payload }) => Number(payload))
    },
  }
}

test('a bus that has lost what it confirmed gets it again, in its order', async (t) => {
  const bus = await openBus(t)
  const { run, serve } = await worldWithDatabase(t)
  const platform = await serve({ BUS_SERVER: bus.url })
  const begin = new Date().toISOString()
  const publish = async (payload: number) => {
    const answer = await platform.call('POST', '/messages/publish', {
      body: { subject: 'order.note', payload },
    })
    return ((await answer.json()) as { status: string }).status
  }
  await eventually('the bus confirms', async () => (await publish(0)) === 'delivered')
  for (let number = 1; number < COUNT; number++) assert.equal(await publish(number), 'delivered')
  const before = await bus.payloads()
  await bus.loseStore()
  await eventually('a new stream', async () => (await bus.payloads().catch(() => null))?.length === 0)

  const said = assertSuccess(await run(['messages', 'replay', '--since', begin]))
  assert.match(said, /^\d\d+ messages wait/)
  assert.match(said, /takes no message again for 30 minutes/)
  await eventually('all messages are back', async () => (await bus.payloads()).length === before.length)
  assert.deepEqual(await bus.payloads(), before)
  const later = new Date().toISOString()
  assert.equal(await publish(COUNT), 'delivered')
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
