import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import { EVENT_HEADERS } from '../../kernel/events.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { DAY, toRfc3339 } from '../../kernel/time.ts'
import { readBusStream } from '../../store/work/marks.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { messagePruneJob } from './index.ts'
import type { PlatformAlert } from '../../ports/alerts.ts'
import type { UndeliveredMessage } from '../../ports/outbox.ts'
import { encodeMessage } from './routes.ts'
import { Messages } from './service.ts'

const FIRST_PAGE = { limit: 100 }
const EVENT = { type: 'order.created', subject: 'o-1', data: { order_id: 'o-1' } }
const USER_MESSAGE = { subject: 'shop.opened', payload: { door: [1, null, 'ü'] }, headers: { trace: 'a b' } }

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const alerts: PlatformAlert[] = []
  let woken = 0
  const service = new Messages({
    store,
    clock,
    logger: silentLogger,
    delivery: { wake: () => void woken++, waitForSettlement: async () => {} },
    alerts: { ...noAlerts, raise: async (tx, alert) => tx.afterCommit(() => alerts.push(alert)) },
  })
  const events = service.eventsOf<object>('orders', (data) => JSON.stringify(data))
  const messages = inTransactions(store, service, 'publish', 'redrive')
  const alertEvents = service.eventsOf<object>('alerts', (data) => JSON.stringify(data))
  const appendEvent = async (event = EVENT, sink = events) => {
    await store.write((tx) => sink.append(tx, event))
    const [newest] = (await messages.list({}, { ...FIRST_PAGE, limit: 1 })).items
    assert.ok(newest)
    return newest
  }
  const settle = async (id: string, outcome: 'delivered' | 'failed' | 'refused', reason = 'why not') => {
    const waiting = (await messages.pending(100, [])).filter((message) => message.id === id)
    const entries = waiting.map((message) => ({ ...message, reason }))
    await messages.settle({ delivered: [], failed: [], refused: [], [outcome]: entries })
    return messages.get(id)
  }
  return {
    clock,
    store,
    messages,
    events,
    alertEvents,
    alerts,
    appendEvent,
    settle,
    woken: () => woken,
    [Symbol.asyncDispose]: dispose,
  }
}

/** Messages of another outbox. */
function refusedMessages(count: number, from = 0): UndeliveredMessage[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    id: `refused-${from + index}`,
    subject: 'telemetry.agent.a',
    payload: '{"text":"ü"}',
    headers: EVENT_HEADERS,
    reason: 'x'.repeat(10_000),
  }))
}

onEveryDialect('messages', (dialect) => {
  test('an event is a CloudEvents envelope with the id of its message', async () => {
    await using w = await world(dialect)
    const message = await w.appendEvent()
    assert.deepEqual(JSON.parse(message.payload), {
      specversion: '1.0',
      id: message.id,
      source: '/platform/orders',
      type: 'order.created',
      subject: 'o-1',
      time: toRfc3339(w.clock.now()),
      datacontenttype: 'application/json',
      data: { order_id: 'o-1' },
    })
    assert.equal(message.subject, 'order.created')
    assert.match(message.headers['content-type'] ?? '', /^application\/cloudevents\+json/)
    assert.equal(w.woken(), 1)
  })

  test('an event of a change that is rolled back is not stored', async () => {
    await using w = await world(dialect)
    const change = w.store.write(async (tx) => {
      await w.events.append(tx, EVENT)
      throw new Error('no')
    })
    await assert.rejects(change, /no/)
    assert.deepEqual(await w.messages.pending(10, []), [])
    assert.equal(w.woken(), 0)
  })

  test('a published message is stored unchanged, and pending', async () => {
    await using w = await world(dialect)
    const message = await w.messages.publish(USER_MESSAGE)
    assert.deepEqual(await w.messages.get(message.id), message)
    const wire = JSON.parse(encodeMessage(message)) as Record<string, unknown>
    assert.deepEqual(
      [wire['payload'], wire['headers'], wire['status']],
      [USER_MESSAGE.payload, USER_MESSAGE.headers, 'pending'],
    )
    assert.deepEqual(await w.messages.awaitDelivery(message.id), message)
    assert.equal(w.woken(), 1)
  })

  test('pending messages are in the order in which they were written', async () => {
    await using w = await world(dialect)
    for (const subject of ['a', 'b', 'a', 'c']) await w.messages.publish({ ...USER_MESSAGE, subject })
    const waiting = await w.messages.pending(10, [])
    assert.deepEqual(
      waiting.map(({ subject }) => subject),
      ['a', 'b', 'a', 'c'],
    )
    assert.deepEqual(
      (await w.messages.pending(10, ['a', 'c'])).map(({ subject }) => subject),
      ['b'],
    )
    assert.equal((await w.messages.pending(2, [])).length, 2)
  })

  test('a delivered message is not pending, and a second delivery changes nothing', async () => {
    await using w = await world(dialect)
    const { id } = await w.appendEvent()
    const entries = await w.messages.pending(10, [])
    await w.messages.settle({ delivered: entries, failed: [], refused: [] })
    const delivered = await w.messages.get(id)
    assert.deepEqual([delivered.status, delivered.attempts], ['delivered', 1])
    assert.equal(delivered.deliveredAt, w.clock.now())
    w.clock.advance(1_000)
    await w.messages.settle({ delivered: entries, failed: [], refused: [] })
    assert.deepEqual(await w.messages.get(id), delivered)
  })

  test('a failed attempt is recorded, and the message stays pending', async () => {
    await using w = await world(dialect)
    const { id } = await w.appendEvent()
    await w.settle(id, 'failed', 'no answer')
    const { status, attempts, lastError } = await w.settle(id, 'failed', 'x'.repeat(10_000))
    assert.deepEqual([status, attempts, lastError], ['pending', 2, 'x'.repeat(500)])
    assert.deepEqual(w.alerts, [])
  })

  test('a refused message is dead, raises one alert, and can be redriven', async () => {
    await using w = await world(dialect)
    const { id } = await w.appendEvent()
    const dead = await w.settle(id, 'refused', 'too large')
    assert.deepEqual([dead.status, dead.lastError], ['dead', 'too large'])
    assert.deepEqual(
      w.alerts.map(({ alarmId }) => alarmId),
      [`message.dead:${id}`],
    )
    assert.equal((await w.messages.redrive(id)).status, 'pending')
    assert.equal((await w.messages.pending(10, [])).length, 1)
  })

  test('a refused event of an alert raises no alert, which would be refused too', async () => {
    await using w = await world(dialect)
    const event = { type: 'alert.raised', subject: 'a-1', data: { order_id: '' } }
    const { id } = await w.appendEvent(event, w.alertEvents)
    assert.equal((await w.settle(id, 'refused')).status, 'dead')
    assert.deepEqual(w.alerts, [])
  })

  test('a refused message of a user raises an alert, whatever its subject and payload', async () => {
    await using w = await world(dialect)
    const event = { type: 'alert.raised', subject: 'a-1', data: { order_id: '' } }
    const { payload: text } = await w.appendEvent(event, w.alertEvents)
    for (const payload of [JSON.parse(text), null, 1, 'x']) {
      const { id } = await w.messages.publish({ ...USER_MESSAGE, subject: 'alert.raised', payload })
      await w.settle(id, 'refused')
      assert.equal(w.alerts.at(-1)?.alarmId, `message.dead:${id}`)
    }
  })

  test('refused messages of another outbox are added as dead ones, without an alert, and can be redriven', async () => {
    await using w = await world(dialect)
    const refused = refusedMessages(2)
    assert.equal(await w.store.write((tx) => w.messages.setAside(tx, refused)), true)
    assert.deepEqual({ ...(await w.messages.deadLetters()) }, { messages: 2, oldest: w.clock.now() })
    const { status, attempts, lastError, subject } = await w.messages.get('refused-1')
    assert.deepEqual(
      [status, attempts, lastError, subject],
      ['dead', 1, 'x'.repeat(500), 'telemetry.agent.a'],
    )
    assert.deepEqual(w.alerts, [])
    await w.messages.redrive('refused-1')
    const [{ seq: _seq, ...waiting } = {}] = await w.messages.pending(10, [])
    const { id, payload, headers } = refused[1] as UndeliveredMessage
    assert.deepEqual(waiting, { id, subject, payload, headers, traceHeaders: {} })
  })

  test('no more than ten thousand dead messages come from other outboxes', async () => {
    await using w = await world(dialect)
    const setAside = (count: number, from: number) =>
      w.store.write((tx) => w.messages.setAside(tx, refusedMessages(count, from)))
    for (let from = 0; from < 9_000; from += 1_000) assert.ok(await setAside(1_000, from))
    assert.equal(await setAside(1_001, 9_000), false)
    assert.equal((await w.messages.deadLetters()).messages, 9_000, 'all or none')
    assert.ok(await setAside(1_000, 9_000))
    assert.equal(await setAside(1, 10_000), false)
    await w.messages.redrive('refused-7')
    assert.ok(await setAside(1, 10_000))
  })

  test('what was delivered in a span of time is sent again, once, in its order', async () => {
    await using w = await world(dialect)
    const ids: string[] = []
    for (let number = 0; number < 4; number++) {
      const { id } = await w.appendEvent()
      await w.settle(id, 'delivered')
      ids.push(id)
      w.clock.advance(1_000)
    }
    const { id: dead } = await w.appendEvent()
    await w.settle(dead, 'refused')
    const [, second, third] = ids
    const { deliveredAt } = await w.messages.get(second ?? '')
    assert.ok(deliveredAt)
    const span = { since: deliveredAt, until: deliveredAt + 2_000 }
    assert.equal(await w.messages.replay(span), 2)
    assert.deepEqual(
      (await w.messages.pending(10, [])).map(({ id }) => id),
      [second, third],
    )
    const { status, deliveredAt: again } = await w.settle(second ?? '', 'delivered')
    assert.deepEqual([status, again], ['delivered', w.clock.now()])
    assert.equal(await w.messages.replay(span), 0)
  })

  test('a stream that was made anew is an alert until what it has lost is sent again', async () => {
    await using w = await world(dialect)
    const { clock, messages } = w
    const first = clock.now()
    await messages.noteStream(first)
    clock.advance(1_000)
    await messages.noteStream(clock.now())
    assert.equal(w.alerts.length, 0, 'nothing was delivered')
    await w.settle((await w.appendEvent()).id, 'delivered')
    clock.advance(1_000)
    const madeAt = clock.now()
    clock.advance(5_000)
    await messages.noteStream(madeAt)
    await messages.noteStream(madeAt)
    assert.equal(w.alerts.length, 1)
    const [, since = '', until = ''] =
      /replay --since (\S+) --until (\S+)$/.exec(w.alerts[0]?.body ?? '') ?? []
    const lost = async () => (await readBusStream(w.store.read))?.lost
    await messages.replay({ since: Date.parse(until) - 1, until: Date.parse(until) })
    assert.ok(await lost(), 'a part of it is not all of it')
    assert.equal(await messages.replay({ since: Date.parse(since), until: Date.parse(until) }), 1)
    assert.equal(await lost(), undefined)
  })

  test('what the bus confirmed without JetStream is an alert once it has it, until it is sent again', async () => {
    await using w = await world(dialect)
    const { clock, messages } = w
    const mark = () => readBusStream(w.store.read)
    const since = clock.now()
    await messages.noteUnstored(since)
    clock.advance(1_000)
    await messages.noteUnstored(clock.now())
    assert.deepEqual(await mark(), { unstoredSince: since })
    const { id } = await w.appendEvent()
    await w.settle(id, 'delivered')
    assert.equal(w.alerts.length, 0, 'it may be meant')
    clock.advance(1_000)
    const madeAt = clock.now()
    await messages.noteStream(madeAt)
    assert.deepEqual(await mark(), { madeAt, lost: { since, until: madeAt, isUnstored: true } })
    const span = / had no JetStream from (\S+) to (\S+)\. .* replay --since \1 --until \2$/
    assert.match(w.alerts[0]?.body ?? '', span)
    assert.equal(await messages.replay({ since, until: madeAt }), 1)
    assert.deepEqual(await mark(), { madeAt })

    // It goes off again, and somebody sends again before the platform has seen that it is back.
    clock.advance(1_000)
    await messages.noteUnstored(clock.now())
    await w.settle(id, 'delivered')
    clock.advance(1_000)
    await messages.replay({ since: 0, until: clock.now() })
    assert.deepEqual(await mark(), { madeAt })
    await messages.noteStream(madeAt)
    assert.equal(w.alerts.length, 1)
  })

  test('what was delivered without JetStream is an alert also after the clock was set back', async () => {
    await using w = await world(dialect)
    const { clock, messages } = w
    await messages.noteUnstored(clock.now() + 3_600_000)
    const { id } = await w.appendEvent()
    await w.settle(id, 'delivered')
    clock.advance(1_000)
    await messages.noteStream(clock.now())
    assert.equal(w.alerts.length, 1)
  })

  test('more messages than one batch are sent again in their order', async () => {
    await using w = await world(dialect)
    const count = 501
    await w.store.write(async (tx) => {
      for (let number = 0; number < count; number++) await w.events.append(tx, EVENT)
    })
    const delivered = await w.messages.pending(1_000, [])
    await w.messages.settle({ delivered, failed: [], refused: [] })
    const span = { since: w.clock.now(), until: w.clock.now() + 1 }
    assert.equal(await w.messages.replay(span), count)
    assert.deepEqual(await w.messages.pending(1_000, []), delivered)
  })

  test('large messages are sent, sent again and removed in parts, and each of them once', async () => {
    await using w = await world(dialect)
    const payload = { text: 'x'.repeat(300_000) }
    for (let count = 0; count < 5; count++)
      await w.messages.publish({ subject: 'shop.large', payload, headers: {} })
    const isSent = async () => {
      const delivered = await w.messages.pending(500, [])
      await w.messages.settle({ delivered, failed: [], refused: [] })
      return delivered.length
    }
    const sent = async () => [await isSent(), await isSent(), await isSent(), await isSent(), await isSent()]
    assert.deepEqual([await sent(), await isSent()], [[1, 1, 1, 1, 1], 0])
    assert.equal(await w.messages.replay({ since: w.clock.now(), until: w.clock.now() + 1 }), 5)
    await sent()
    await w.appendEvent()
    const later = w.clock.now() + 1
    assert.deepEqual([await w.messages.prune(later, 500), await w.messages.prune(later, 500)], [3, 2])
  })

  test('only a dead message can be redriven', async () => {
    await using w = await world(dialect)
    const { id } = await w.appendEvent()
    await assert.rejects(w.messages.redrive(id), { code: 'invalid_transition', message: /pending/ })
    await w.settle(id, 'delivered')
    await assert.rejects(w.messages.redrive(id), { code: 'invalid_transition', message: /delivered/ })
    await assert.rejects(w.messages.redrive('none'), { code: 'message_not_found' })
  })

  test('lists filter by status and subject, newest first', async () => {
    await using w = await world(dialect)
    const first = await w.messages.publish({ ...USER_MESSAGE, subject: 'a' })
    const second = await w.messages.publish({ ...USER_MESSAGE, subject: 'b' })
    const third = await w.messages.publish({ ...USER_MESSAGE, subject: 'a' })
    await w.settle(second.id, 'refused')
    await w.settle(third.id, 'delivered')
    const ids = async (filter: Parameters<typeof w.messages.list>[0]) =>
      (await w.messages.list(filter, FIRST_PAGE)).items.map(({ id }) => id)
    assert.deepEqual(await ids({}), [third.id, second.id, first.id])
    assert.deepEqual(await ids({ subject: 'a' }), [third.id, first.id])
    assert.deepEqual(await ids({ status: 'dead' }), [second.id])
    assert.deepEqual(await ids({ status: 'pending' }), [first.id])
    assert.deepEqual(await ids({ status: 'delivered', subject: 'b' }), [])
  })

  test('the backlog is the number of pending messages and the time of the oldest', async () => {
    await using w = await world(dialect)
    assert.deepEqual({ ...(await w.messages.backlog()) }, { pending: 0, oldest: null })
    const start = w.clock.now()
    const { id } = await w.appendEvent()
    w.clock.advance(5_000)
    await w.appendEvent()
    assert.deepEqual({ ...(await w.messages.backlog()) }, { pending: 2, oldest: start })
    await w.settle(id, 'delivered')
    assert.deepEqual({ ...(await w.messages.backlog()) }, { pending: 1, oldest: start + 5_000 })
  })

  test('only delivered messages that are older than the limit are removed', async () => {
    await using w = await world(dialect)
    const old = await w.appendEvent()
    await w.settle(old.id, 'delivered')
    const waiting = await w.appendEvent()
    const dead = await w.appendEvent()
    await w.settle(dead.id, 'refused')
    w.clock.advance(7 * DAY)
    const young = await w.appendEvent()
    await w.settle(young.id, 'delivered')
    w.clock.advance(1)
    await messagePruneJob(w.messages, w.clock, 7 * DAY).run(new AbortController().signal)
    assert.deepEqual(
      (await w.messages.list({}, FIRST_PAGE)).items.map(({ id }) => id),
      [young.id, dead.id, waiting.id],
    )
  })
})
