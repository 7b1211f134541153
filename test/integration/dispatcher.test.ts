import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorMessage } from '../../src/kernel/errors.ts'
import { silentLogger, type Logger, OUTAGES } from '../../src/kernel/logger.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import { createLease } from '../../src/store/work/lease.ts'
import { fakeClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { chanceOf } from '../support/random.ts'
import { onEveryDialect } from '../support/store.ts'
import {
  LEASE_MS,
  openDispatchers,
  writeNumbered,
  numbersOn,
  upTo,
  messageStatuses,
  allDelivered,
} from '../support/dispatcher-world.ts'

const FIRST_PAGE = { limit: 1_000 }
const FAILED = { outcome: 'failed', reason: 'the bus is overloaded' } as const
const REFUSED = { outcome: 'refused', reason: 'permission denied' } as const

onEveryDialect('the dispatcher', (dialect) => {
  test('pending messages are delivered right after the start, in order for each subject', async () => {
    await using world = await openDispatchers(dialect)
    const { bus, first } = world
    await writeNumbered(first, ['order.created', 'order.paid'], 30)
    first.dispatcher.start()
    await allDelivered(first, 60)
    assert.equal(bus.arrived.length, 60)
    assert.deepEqual(numbersOn('order.created', bus.arrived), upTo(30))
    assert.deepEqual(numbersOn('order.paid', bus.arrived), upTo(30))
  })

  test('messages written while the bus is disconnected are delivered as soon as it is connected', async () => {
    await using world = await openDispatchers(dialect, { clock: fakeClock() })
    const { bus, first } = world
    bus.disconnect()
    first.dispatcher.start()
    await writeNumbered(first, ['order.created'], 5)
    assert.deepEqual(await messageStatuses(first), { pending: 5 })
    bus.connect()
    await allDelivered(first, 5)
  })

  test('failures and lost confirmations do not change the order of a subject', async (t) => {
    const chance = chanceOf(t)
    const clock = fakeClock()
    await using world = await openDispatchers(dialect, { clock })
    const { bus, first } = world
    const subjects = ['a', 'b', 'c', 'd']
    bus.losesConfirmations = true
    bus.rule = () => (chance.number() < 0.2 ? FAILED : undefined)
    first.dispatcher.start()
    await writeNumbered(first, subjects, 40)
    await eventually('all messages to be delivered', async () => {
      clock.advance(200)
      first.dispatcher.wake()
      return (await messageStatuses(first))['delivered'] === 160
    })
    for (const subject of subjects) assert.deepEqual(numbersOn(subject, bus.arrived), upTo(40), subject)
    assert.ok(bus.arrived.length > 160, 'no message was sent twice, so the test proves nothing')
  })

  test('a stream that comes back while messages are on their way does not change the order', async () => {
    await using world = await openDispatchers(dialect)
    const { bus, first } = world
    let missed = 0
    // As while servers elect a leader: so many messages are lost, whichever they are.
    bus.rule = () => (missed++ < 8 ? { outcome: 'failed', reason: 'no leader' } : undefined)
    await writeNumbered(first, ['order.a', 'order.b'], 5)
    first.dispatcher.start()
    await allDelivered(first, 10)
    for (const subject of ['order.a', 'order.b']) assert.deepEqual(numbersOn(subject, bus.arrived), upTo(5))
  })

  test('a failing subject does not delay others, and its backoff doubles after each failure', async () => {
    const clock = fakeClock()
    await using world = await openDispatchers(dialect, { clock })
    const { bus, first } = world
    const isBad = ({ subject }: { subject: string }) => subject === 'bad'
    let attempts = 0
    bus.rule = (message) => {
      if (!isBad(message)) return undefined
      attempts += 1
      return FAILED
    }
    first.dispatcher.start()
    await writeNumbered(first, ['bad'], 2)
    await eventually('the first attempt', () => attempts > 0)
    let polls = 0
    /** Waits until the dispatcher has polled without the bad subject; a delivered message shows it. */
    const waitForPoll = async () => {
      polls += 1
      await writeNumbered(first, ['good'], 1)
      await allDelivered(first, polls)
    }
    await waitForPoll()
    // 100 ms, doubled each time up to 30 s, with jitter over the upper half.
    for (const [retry, pause] of [
      100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000,
    ].entries()) {
      const before = attempts
      clock.advance(pause / 2 - 1)
      await waitForPoll()
      assert.equal(attempts, before, `retry ${retry + 1} took place within ${pause / 2} ms`)
      clock.advance(pause / 2 + 1)
      await eventually(`retry ${retry + 1} within ${pause} ms`, () => attempts > before)
      await waitForPoll()
    }
    const { items } = await first.messages.list({ subject: 'bad' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ attempts, lastError }) => [attempts, lastError]),
      [
        [0, null],
        [12, FAILED.reason],
      ],
      'only the first message counts an attempt',
    )
    bus.rule = () => undefined
    clock.advance(30_000)
    await allDelivered(first, polls + 2)
    assert.deepEqual(numbersOn('bad', bus.arrived), [1, 2])
  })

  test('a stream that fails for hundreds of subjects does not delay others, and stays in order', async () => {
    const exclusions: (readonly string[])[] = []
    const clock = fakeClock()
    await using world = await openDispatchers(dialect, {
      clock,
      faulty: (outbox) => ({
        settle: (settlement) => outbox.settle(settlement),
        pending: (limit, without) => {
          exclusions.push(without)
          return outbox.pending(limit, without)
        },
      }),
    })
    const { bus, first } = world
    const agents = Array.from({ length: 700 }, (_, index) => `telemetry.agent.${index}`)
    await writeNumbered(first, agents, 2)
    await writeNumbered(first, ['telemetrics', 'order.created'], 3)
    bus.rule = ({ subject }) => (subject.startsWith('telemetry.') ? FAILED : undefined)
    first.dispatcher.start()
    await allDelivered(first, 6)
    assert.ok(Math.max(...exclusions.map((without) => without.length)) <= 101)
    bus.rule = () => undefined
    clock.advance(30_000)
    first.dispatcher.wake()
    await eventually(
      'all messages to be delivered',
      async () => (await first.messages.backlog()).pending === 0,
    )
    for (const agent of agents) assert.deepEqual(numbersOn(agent, bus.arrived), [1, 2], agent)
  })

  test('a reconnected bus ends the backoff of subjects that failed before', async () => {
    await using world = await openDispatchers(dialect, { clock: fakeClock() })
    const { bus, first } = world
    let attempts = 0
    bus.rule = () => {
      attempts += 1
      return FAILED
    }
    first.dispatcher.start()
    await writeNumbered(first, ['order.created'], 1)
    await eventually('a failure', () => attempts > 0)
    bus.rule = () => undefined
    bus.disconnect()
    bus.connect()
    await allDelivered(first, 1)
  })

  test('a bus that answers and takes no messages is told in the log until it takes them', async () => {
    const clock = fakeClock()
    const lines: string[] = []
    const note = (fields: object, text: string) =>
      void lines.push('error' in fields ? `${text}: ${errorMessage(fields.error)}` : text)
    const logger = { ...silentLogger, child: () => logger, warn: note, error: note, info: note } as Logger
    await using world = await openDispatchers(dialect, { clock, logger })
    const { bus, first } = world
    bus.rule = () => ({ outcome: 'failed', reason: 'insufficient resources' })
    first.dispatcher.start()
    await writeNumbered(first, ['order.created'], 2)
    const until = (text: string) =>
      eventually(text, () => {
        clock.advance(20 * SECOND)
        first.dispatcher.wake()
        return lines.some((line) => line.startsWith(text))
      })
    await until(OUTAGES.delivery.lasts)
    assert.equal(first.dispatcher.isRefused, true)
    bus.rule = () => undefined
    await until(OUTAGES.delivery.worksAgain)
    assert.deepEqual(lines, [
      `${OUTAGES.delivery.fails}: order.created: insufficient resources`,
      `${OUTAGES.delivery.lasts}: order.created: insufficient resources`,
      OUTAGES.delivery.worksAgain,
    ])
    assert.equal(first.dispatcher.isRefused, false)
  })

  test('a refused message is dead with one alert, and is delivered when it is redriven', async () => {
    await using world = await openDispatchers(dialect)
    const { bus, first } = world
    bus.rule = ({ subject }) => (subject === 'order.created' ? REFUSED : undefined)
    first.dispatcher.start()
    await writeNumbered(first, ['order.created', 'order.paid'], 1)
    const dead = await eventually(
      'the message to be dead',
      async () => (await first.messages.list({ status: 'dead' }, FIRST_PAGE)).items[0],
    )
    assert.equal(dead.lastError, REFUSED.reason)
    const { items: alerts } = await first.alerts.list({}, FIRST_PAGE)
    assert.deepEqual(
      alerts.map(({ alarmId, count, status }) => [alarmId, count, status]),
      [[`message.dead:${dead.id}`, 1, 'firing']],
    )
    // order.paid, and alert.raised of the alert
    await allDelivered(first, 2)
    bus.rule = () => undefined
    await first.store.write((tx) => first.messages.redrive(tx, dead.id))
    // Also the event that the redrive has ended the alert.
    await allDelivered(first, 4)
    const { items: ended } = await first.alerts.list({}, FIRST_PAGE)
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['recovered'],
    )
  })

  test('an event of an alert that the bus refuses raises no alert', async () => {
    await using world = await openDispatchers(dialect)
    const { bus, first } = world
    bus.rule = () => REFUSED
    first.dispatcher.start()
    await writeNumbered(first, ['order.created'], 1)
    await eventually('both messages to be dead', async () => (await messageStatuses(first))['dead'] === 2)
    await writeNumbered(first, ['order.paid'], 1)
    await eventually('both messages to be dead', async () => (await messageStatuses(first))['dead'] === 4)
    assert.equal((await first.alerts.list({}, FIRST_PAGE)).items.length, 2)
  })

  test('a refused message that two processes settle raises one alert', async () => {
    await using world = await openDispatchers(dialect)
    const { first } = world
    await writeNumbered(first, ['order.created'], 1)
    const refused = (await first.messages.pending(1, [])).map((message) => ({ ...message, reason: 'no' }))
    await first.messages.settle({ delivered: [], failed: [], refused })
    await (await world.another()).messages.settle({ delivered: [], failed: [], refused })
    const { items } = await first.alerts.list({}, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ count }) => count),
      [1],
    )
  })

  test('three processes under concurrent writers deliver each message once and in order', async () => {
    await using world = await openDispatchers(dialect)
    const sites = [world.first, await world.another(), await world.another()]
    for (const { dispatcher } of sites) dispatcher.start()
    await Promise.all(sites.map((site, index) => writeNumbered(site, [`s${index}`, `t${index}`], 60)))
    await allDelivered(world.first, 360)
    assert.equal(world.bus.arrived.length, 360, 'a message was sent twice: more than one process delivers')
    for (const subject of ['s0', 't0', 's1', 't1', 's2', 't2']) {
      assert.deepEqual(numbersOn(subject, world.bus.arrived), upTo(60), subject)
    }
  })

  test('a closed process releases the lease at once', async () => {
    // The clock does not advance, so no lease expires.
    await using world = await openDispatchers(dialect, { clock: fakeClock() })
    const { first } = world
    first.dispatcher.start()
    await writeNumbered(first, ['a'], 1)
    await allDelivered(first, 1)
    const second = await world.another()
    second.dispatcher.start()
    await first.dispatcher.close()
    await first.dispatcher.close()
    await writeNumbered(second, ['a'], 1)
    await allDelivered(second, 2)
  })

  test('a process without a bus releases the lease to one that is connected', async () => {
    await using world = await openDispatchers(dialect, { clock: fakeClock() })
    const { bus, first } = world
    first.dispatcher.start()
    await writeNumbered(first, ['a'], 1)
    await allDelivered(first, 1)
    const second = createLease({ store: first.store, clock: fakeClock(), name: 'delivery', ttlMs: LEASE_MS })
    assert.equal(await second.hold(), false)
    bus.disconnect()
    await eventually('the lease to be free', () => second.hold())
  })

  test('a failing store delays messages, but loses and reorders none, and is logged once', async () => {
    const lines: string[] = []
    const log: Logger['info'] = (_fields, message) => void lines.push(message)
    let faults = 0
    const failing = async () => {
      faults -= 1
      throw new Error('the disk is not available')
    }
    await using world = await openDispatchers(dialect, {
      logger: { ...silentLogger, warn: log, info: log },
      faulty: (outbox) => ({
        pending: (...query) => (faults > 2 ? failing() : outbox.pending(...query)),
        settle: (settlement) => (faults > 0 ? failing() : outbox.settle(settlement)),
      }),
    })
    const { bus, first } = world
    await writeNumbered(first, ['a'], 20)
    faults = 4
    first.dispatcher.start()
    await allDelivered(first, 20)
    assert.deepEqual(numbersOn('a', bus.arrived), upTo(20))
    assert.equal(bus.arrived.length, 22, 'two settlements failed, so the first message was sent three times')
    await eventually('the end of the outage', () => lines.length === 2)
    assert.deepEqual(lines, [
      'outbox cannot be read or written; messages wait',
      'outbox can be read and written again',
    ])
    await writeNumbered(first, ['a'], 20)
    faults = 2
    await allDelivered(first, 40)
    assert.deepEqual(numbersOn('a', bus.arrived), [...upTo(20), ...upTo(20)])
  })

  test('publish returns the status of the message after the delivery', async () => {
    // So long that a wait for the time limit fails the test.
    await using world = await openDispatchers(dialect, { waitMs: HOUR })
    const { bus, first } = world
    const publish = async () => {
      const wanted = { subject: 'free.speech', payload: { a: 1 }, headers: {} }
      const { id } = await first.store.write((tx) => first.messages.publish(tx, wanted))
      return first.messages.awaitDelivery(id)
    }
    bus.disconnect()
    assert.equal((await publish())?.status, 'pending')
    first.dispatcher.start()
    bus.connect()
    await allDelivered(first, 1)
    assert.equal((await publish())?.status, 'delivered')
    bus.rule = () => REFUSED
    assert.equal((await publish())?.status, 'dead')
  })

  test('publish does not wait if another process delivers', async () => {
    await using world = await openDispatchers(dialect, { waitMs: HOUR })
    const { first } = world
    first.dispatcher.start()
    await writeNumbered(first, ['a'], 1)
    await allDelivered(first, 1)
    const second = await world.another()
    second.dispatcher.start()
    const { id } = await second.store.write((tx) =>
      second.messages.publish(tx, { subject: 'a', payload: 2, headers: {} }),
    )
    await second.messages.awaitDelivery(id)
    await eventually('the message to be delivered', async () => {
      return (await second.messages.get(id)).status === 'delivered'
    })
  })

  test('settled resolves after its time limit', async () => {
    await using world = await openDispatchers(dialect)
    const { first } = world
    first.dispatcher.start()
    await writeNumbered(first, ['a'], 1)
    await allDelivered(first, 1)
    let isSettled = false
    const settled = first.dispatcher.waitForSettlement('not-there', 60).then(() => (isSettled = true))
    await nextTurn()
    assert.equal(isSettled, false, 'it waits')
    await settled
  })
})

test('a message that another transaction has locked on postgres does not delay other subjects', async () => {
  await using world = await openDispatchers('postgres')
  const { bus, first } = world
  await writeNumbered(first, ['locked'], 2)
  await writeNumbered(first, ['free'], 3)
  const released = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const transaction = first.store.write(async ({ db }) => {
    await db
      .selectFrom('messages')
      .select('seq')
      .where('subject', '=', 'locked')
      .limit(1)
      .forUpdate()
      .execute()
    locked.resolve()
    await released.promise
  })
  await locked.promise
  first.dispatcher.start()
  try {
    await eventually(
      'the others to be delivered',
      async () => (await messageStatuses(first))['delivered'] === 4,
    )
    assert.ok(bus.arrived.length < 50, 'the locked message is not sent in a loop')
  } finally {
    released.resolve()
    await transaction
  }
  await allDelivered(first, 5)
  assert.deepEqual(numbersOn('locked', bus.arrived), [1, 2])
})
