import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import { BATCH_BYTES } from '../../store/pages.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { DAY } from '../../kernel/time.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { MessageLog } from './event-log.ts'
import { Messages } from './service.ts'
import { continueNumbers } from './store.ts'

const EVENT_TYPE = 'application/cloudevents+json; charset=utf-8'

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const service = new Messages({
    store,
    clock,
    logger: silentLogger,
    delivery: { wake() {}, waitForSettlement: async () => {} },
    alerts: noAlerts,
  })
  const events = service.eventsOf<object>('orders', (data) => JSON.stringify(data))
  const log = new MessageLog(store.read)
  const readIds = async (after: number, limit = 10) =>
    (await log.readAfter(after, limit)).events.map(
      ({ payload }) => (JSON.parse(payload) as { subject: string }).subject,
    )
  return {
    clock,
    log,
    store,
    readIds,
    messages: inTransactions(store, service, 'publish'),
    append: (subject: string, data = {}, type = 'order.created') =>
      store.write((tx) => events.append(tx, { type, subject, data })),
    [Symbol.asyncDispose]: dispose,
  }
}

onEveryDialect('the log of the events', (dialect) => {
  test('reads the events on some subjects without the others, which are large', async () => {
    await using w = await world(dialect)
    const large = { text: 'x'.repeat(BATCH_BYTES) }
    await w.append('a')
    await w.append('large', large, 'order.paid')
    await w.append('b', {}, 'order.updated')
    await w.append('large', large, 'order.paid')
    await w.append('c')
    const read = async (...subjects: string[]) => {
      const { events, through } = await w.log.readAfter(0, 10, subjects)
      return [events.map(({ place }) => place), through]
    }
    assert.deepEqual(await read('order.created'), [[1, 5], 5])
    assert.deepEqual(await read('order.created', 'order.up*'), [[1, 3, 5], 5])
    assert.deepEqual(await read('order.paid'), [[2], 2])
    assert.deepEqual(await read('order_paid', 'ticket.*'), [[], 5])
  })

  test('has the committed events in their order, as they are sent on the bus', async () => {
    await using w = await world(dialect)
    assert.deepEqual(
      [await w.log.newestPlace(), await w.log.readAfter(0, 10)],
      [0, { events: [], through: 0 }],
    )
    for (const id of ['a', 'b', 'c']) await w.append(id)
    const {
      events: [first, second],
      through,
    } = await w.log.readAfter(0, 2)
    const [message] = await w.messages.pending(1, [])
    assert.deepEqual(first, { place: 1, subject: 'order.created', payload: message?.payload })
    assert.deepEqual([second?.place, through], [2, 2])
    assert.deepEqual(await w.readIds(2), ['c'])
    assert.deepEqual(await w.readIds(3), [])
    assert.equal(await w.log.newestPlace(), 3)
  })

  test('is read in parts of up to a megabyte, each with at least one event', async () => {
    await using w = await world(dialect)
    for (const [id, length] of [
      ['a', 400_000],
      ['b', 400_000],
      ['c', 400_000],
      ['d', 1_100_000],
      ['e', 1],
    ] as const)
      await w.append(id, { text: 'x'.repeat(length) })
    const parts: string[][] = []
    for (let place = 0; place < 5;) {
      const { events, through } = await w.log.readAfter(place, 10)
      parts.push(events.map(({ payload }) => (JSON.parse(payload) as { subject: string }).subject))
      place = through
    }
    assert.deepEqual(parts, [['a', 'b'], ['c'], ['d'], ['e']])
  })

  test('has no messages of users, whatever they look like', async () => {
    await using w = await world(dialect)
    const envelope = { specversion: '1.0', id: 'forged', type: 'order.created', subject: 'forged' }
    for (const headers of [{}, { 'content-type': EVENT_TYPE }])
      await w.messages.publish({ subject: 'order.created', payload: envelope, headers })
    assert.deepEqual([await w.readIds(0), await w.readIds(0)], [[], []])
    assert.equal((await w.log.readAfter(0, 10)).through, await w.log.newestPlace())
    await w.append('a')
    assert.deepEqual([await w.readIds(0), await w.readIds(1), await w.readIds(2)], [['a'], ['a'], ['a']])
    assert.deepEqual(await w.readIds(0, 1), ['a'])
  })

  test('has no telemetry, which has a log of its own', async () => {
    await using w = await world(dialect)
    const telemetry = w.messages.eventsOf<object>('telemetry', (data) => JSON.stringify(data))
    await w.store.write((tx) => telemetry.append(tx, { type: 'telemetry.agent.a', subject: 'a', data: {} }))
    await w.append('b')
    assert.deepEqual(await w.readIds(0), ['b'])
  })

  test('records what was removed', async () => {
    await using w = await world(dialect)
    for (const id of ['a', 'b', 'c']) await w.append(id)
    const delivered = (await w.messages.pending(10, [])).slice(1)
    await w.messages.settle({ delivered, failed: [], refused: [] })
    assert.equal(await w.log.removedUpTo(), 0)
    w.clock.advance(DAY)
    // The newest one stays.
    assert.equal(await w.messages.prune(w.clock.now(), 10), 1)
    assert.equal(await w.messages.prune(w.clock.now(), 10), 0)
    assert.equal(await w.log.removedUpTo(), 2)
    assert.deepEqual(await w.readIds(0), ['a', 'c'])
  })

  test('a restored log continues above every number that was given out, and has no event in between', async () => {
    await using w = await world(dialect)
    const restore = () => w.store.write((tx) => continueNumbers(tx, w.clock.now()))
    for (const id of ['a', 'b']) await w.append(id)
    // It has read the log before, and goes on over the gap.
    assert.deepEqual(await w.readIds(0), ['a', 'b'])
    await restore()
    const first = 1_000 * w.clock.now()
    assert.deepEqual([await w.readIds(0), await w.readIds(9)], [['a', 'b'], []])
    await w.append('c')
    w.clock.advance(1)
    await restore()
    await w.append('d')
    await eventually('the gap is settled', async () => (await w.readIds(9)).length === 2)
    const { events } = await w.log.readAfter(9, 10)
    assert.deepEqual(
      events.map(({ place }) => place),
      [first + 1, first + 1_001],
    )
    assert.deepEqual([await w.readIds(2, 1), await w.readIds(first + 1)], [['c'], ['d']])
  })

  test('a restored log has no message to send, and the message in its place stays', async () => {
    await using w = await world(dialect)
    await w.store.write((tx) => continueNumbers(tx, w.clock.now()))
    assert.deepEqual(await w.messages.pending(10, []), [])
    await w.append('a')
    const delivered = await w.messages.pending(10, [])
    await w.messages.settle({ delivered, failed: [], refused: [] })
    w.clock.advance(DAY)
    assert.equal(await w.messages.prune(w.clock.now(), 10), 0)
    assert.equal(await w.log.removedUpTo(), 0)
  })
})
