import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Alerts, noNotifications } from '../../src/domains/alerts/index.ts'
import { Messages } from '../../src/domains/messages/index.ts'
import { Dispatcher } from '../../src/infra/bus/dispatcher.ts'
import type { BusMessage } from '../../src/kernel/bus.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import type { Outbox } from '../../src/ports/outbox.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { createLease } from '../../src/store/lease.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { MemoryBus } from '../support/memory-bus.ts'
import { chanceOf } from '../support/random.ts'
import { onEveryDialect, testStore, type TestStore } from '../support/store.ts'

const LEASE_MS = 10 * SECOND
const FIRST_PAGE = { limit: 1_000 }
const FAILED = { outcome: 'failed', reason: 'the bus is overloaded' } as const
const REFUSED = { outcome: 'refused', reason: 'permission denied' } as const

/** One process: its connection to the database, and its services. */
interface Site {
  readonly store: Store
  readonly messages: Messages
  readonly alerts: Alerts
  readonly dispatcher: Dispatcher
}

interface SiteOptions {
  readonly clock?: Clock
  /** Replaces the time that a publication waits for its delivery. */
  readonly waitMs?: number
  /** Wraps the outbox to inject faults. */
  readonly faulty?: (outbox: Outbox) => Outbox
}

interface World extends AsyncDisposable {
  readonly bus: MemoryBus
  readonly first: Site
  /** Opens another process on the same database and bus. */
  another(): Promise<Site>
}

async function openWorld(dialect: DialectName, options: SiteOptions = {}): Promise<World> {
  await using opening = new AsyncDisposableStack()
  const database: TestStore = opening.use(await testStore(dialect, options.clock))
  const bus = new MemoryBus()
  const open = (store: Store) => {
    const site = openSite(store, bus, options)
    opening.defer(() => site.dispatcher.close())
    return site
  }
  const first = open(database.store)
  const opened = opening.move()
  return {
    bus,
    first,
    async another() {
      const parts = { clock: options.clock ?? systemClock, metrics: noMetrics, logger: silentLogger }
      const store = await openStore({ database: database.address, ...parts })
      opened.defer(() => store.close())
      const site = openSite(store, bus, options)
      opened.defer(() => site.dispatcher.close())
      return site
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function openSite(
  store: Store,
  bus: MemoryBus,
  { clock = systemClock, waitMs, faulty = (same) => same }: SiteOptions,
): Site {
  const parts = { store, clock, logger: silentLogger, metrics: noMetrics }
  const messages: Messages = new Messages({
    ...parts,
    delivery: {
      wake: () => dispatcher.wake(),
      settled: (id, withinMs) => dispatcher.settled(id, waitMs ?? withinMs),
    },
    alerts: { raise: (tx, alert) => alerts.raise(tx, alert) },
  })
  const alerts = new Alerts({
    ...parts,
    events: messages.eventsOf('alerts', JSON.stringify),
    notifications: noNotifications,
    acknowledgeForMs: 4 * HOUR,
  })
  const lease = createLease({ store, clock, name: 'delivery', ttlMs: LEASE_MS })
  const dispatcher: Dispatcher = new Dispatcher({ ...parts, bus, lease, outbox: faulty(messages) })
  return { store, messages, alerts, dispatcher }
}

/** Writes numbered messages in successive transactions, as one producer does. */
async function write({ messages, store }: Site, subjects: readonly string[], count: number): Promise<void> {
  const events = messages.eventsOf<number>('things', String)
  for (let number = 1; number <= count; number++) {
    await store.write(async (tx) => {
      for (const type of subjects) await events.append(tx, { type, subject: 'thing', data: number })
    })
  }
}

function numberIn({ payload }: BusMessage): number {
  return (JSON.parse(payload) as { data: number }).data
}

/** The numbers that arrived on a subject, without duplicates. */
function numbersOn(subject: string, arrived: readonly BusMessage[]): number[] {
  const ofSubject = arrived.filter((message) => message.subject === subject)
  return [...new Map(ofSubject.map((message) => [message.id, numberIn(message)])).values()]
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

async function statuses({ messages }: Site): Promise<Record<string, number>> {
  const { items } = await messages.list({}, FIRST_PAGE)
  return Object.fromEntries(
    [...Map.groupBy(items, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  )
}

const allDelivered = (site: Site, count: number) =>
  eventually(`${count} messages to be delivered`, async () => (await statuses(site))['delivered'] === count)

onEveryDialect('the dispatcher', (dialect) => {
  test('pending messages are delivered right after the start, in order for each subject', async () => {
    await using world = await openWorld(dialect)
    const { bus, first } = world
    await write(first, ['order.created', 'order.paid'], 30)
    first.dispatcher.start()
    await allDelivered(first, 60)
    assert.equal(bus.arrived.length, 60)
    assert.deepEqual(numbersOn('order.created', bus.arrived), upTo(30))
    assert.deepEqual(numbersOn('order.paid', bus.arrived), upTo(30))
  })

  test('messages written while the bus is disconnected are delivered as soon as it is connected', async () => {
    await using world = await openWorld(dialect, { clock: fakeClock() })
    const { bus, first } = world
    bus.disconnect()
    first.dispatcher.start()
    await write(first, ['order.created'], 5)
    assert.deepEqual(await statuses(first), { pending: 5 })
    bus.connect()
    await allDelivered(first, 5)
  })

  test('failures and lost confirmations do not change the order of a subject', async (t) => {
    const chance = chanceOf(t)
    const clock = fakeClock()
    await using world = await openWorld(dialect, { clock })
    const { bus, first } = world
    const subjects = ['a', 'b', 'c', 'd']
    bus.losesConfirmations = true
    bus.rule = () => (chance.number() < 0.2 ? FAILED : undefined)
    first.dispatcher.start()
    await write(first, subjects, 40)
    await eventually('all messages to be delivered', async () => {
      clock.advance(200)
      first.dispatcher.wake()
      return (await statuses(first))['delivered'] === 160
    })
    for (const subject of subjects) assert.deepEqual(numbersOn(subject, bus.arrived), upTo(40), subject)
    assert.ok(bus.arrived.length > 160, 'no message was sent twice, so the test proves nothing')
  })

  test('a failing subject does not delay others, and its backoff doubles after each failure', async () => {
    const clock = fakeClock()
    await using world = await openWorld(dialect, { clock })
    const { bus, first } = world
    const isBad = ({ subject }: { subject: string }) => subject === 'bad'
    let attempts = 0
    bus.rule = (message) => {
      if (!isBad(message)) return undefined
      attempts += 1
      return FAILED
    }
    first.dispatcher.start()
    await write(first, ['bad'], 2)
    await eventually('the first attempt', () => attempts > 0)
    let polls = 0
    /** Waits until the dispatcher has polled without the bad subject; a delivered message shows it. */
    const waitForPoll = async () => {
      polls += 1
      await write(first, ['good'], 1)
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
    await using world = await openWorld(dialect, {
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
    await write(first, agents, 2)
    await write(first, ['telemetrics', 'order.created'], 3)
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
    await using world = await openWorld(dialect, { clock: fakeClock() })
    const { bus, first } = world
    let attempts = 0
    bus.rule = () => {
      attempts += 1
      return FAILED
    }
    first.dispatcher.start()
    await write(first, ['order.created'], 1)
    await eventually('a failure', () => attempts > 0)
    bus.rule = () => undefined
    bus.disconnect()
    bus.connect()
    await allDelivered(first, 1)
  })

  test('a refused message is dead with one alert, and is delivered when it is redriven', async () => {
    await using world = await openWorld(dialect)
    const { bus, first } = world
    bus.rule = ({ subject }) => (subject === 'order.created' ? REFUSED : undefined)
    first.dispatcher.start()
    await write(first, ['order.created', 'order.paid'], 1)
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
    await allDelivered(first, 3)
  })

  test('an event of an alert that the bus refuses raises no alert', async () => {
    await using world = await openWorld(dialect)
    const { bus, first } = world
    bus.rule = () => REFUSED
    first.dispatcher.start()
    await write(first, ['order.created'], 1)
    await eventually('both messages to be dead', async () => (await statuses(first))['dead'] === 2)
    await write(first, ['order.paid'], 1)
    await eventually('both messages to be dead', async () => (await statuses(first))['dead'] === 4)
    assert.equal((await first.alerts.list({}, FIRST_PAGE)).items.length, 2)
  })

  test('a refused message that two processes settle raises one alert', async () => {
    await using world = await openWorld(dialect)
    const { first } = world
    await write(first, ['order.created'], 1)
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
    await using world = await openWorld(dialect)
    const sites = [world.first, await world.another(), await world.another()]
    for (const { dispatcher } of sites) dispatcher.start()
    await Promise.all(sites.map((site, index) => write(site, [`s${index}`, `t${index}`], 60)))
    await allDelivered(world.first, 360)
    assert.equal(world.bus.arrived.length, 360, 'a message was sent twice: more than one process delivers')
    for (const subject of ['s0', 't0', 's1', 't1', 's2', 't2']) {
      assert.deepEqual(numbersOn(subject, world.bus.arrived), upTo(60), subject)
    }
  })

  test('a closed process releases the lease at once', async () => {
    // The clock does not advance, so no lease expires.
    await using world = await openWorld(dialect, { clock: fakeClock() })
    const { first } = world
    first.dispatcher.start()
    await write(first, ['a'], 1)
    await allDelivered(first, 1)
    const second = await world.another()
    second.dispatcher.start()
    await first.dispatcher.close()
    await first.dispatcher.close()
    await write(second, ['a'], 1)
    await allDelivered(second, 2)
  })

  test('a process without a bus releases the lease to one that is connected', async () => {
    await using world = await openWorld(dialect, { clock: fakeClock() })
    const { bus, first } = world
    first.dispatcher.start()
    await write(first, ['a'], 1)
    await allDelivered(first, 1)
    const second = createLease({ store: first.store, clock: fakeClock(), name: 'delivery', ttlMs: LEASE_MS })
    assert.equal(await second.hold(), false)
    bus.disconnect()
    await eventually('the lease to be free', () => second.hold())
  })

  test('a failing store delays messages, but loses and reorders none', async () => {
    let faults = 0
    const failing = async () => {
      faults -= 1
      throw new Error('the disk is not available')
    }
    await using world = await openWorld(dialect, {
      faulty: (outbox) => ({
        pending: (...query) => (faults > 2 ? failing() : outbox.pending(...query)),
        settle: (settlement) => (faults > 0 ? failing() : outbox.settle(settlement)),
      }),
    })
    const { bus, first } = world
    await write(first, ['a'], 20)
    faults = 4
    first.dispatcher.start()
    await allDelivered(first, 20)
    assert.deepEqual(numbersOn('a', bus.arrived), upTo(20))
    assert.equal(bus.arrived.length, 60, 'two settlements failed, so the batch was sent three times')
  })

  test('publish returns the status of the message after the delivery', async () => {
    // So long that a wait for the time limit fails the test.
    await using world = await openWorld(dialect, { waitMs: HOUR })
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
    await using world = await openWorld(dialect, { waitMs: HOUR })
    const { first } = world
    first.dispatcher.start()
    await write(first, ['a'], 1)
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
    await using world = await openWorld(dialect)
    const { first } = world
    first.dispatcher.start()
    await write(first, ['a'], 1)
    await allDelivered(first, 1)
    let isSettled = false
    const settled = first.dispatcher.settled('not-there', 60).then(() => (isSettled = true))
    await nextTurn()
    assert.equal(isSettled, false, 'it waits')
    await settled
  })
})

test('a message that another transaction has locked on postgres does not delay other subjects', async () => {
  await using world = await openWorld('postgres')
  const { bus, first } = world
  await write(first, ['locked'], 2)
  await write(first, ['free'], 3)
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
    await eventually('the others to be delivered', async () => (await statuses(first))['delivered'] === 4)
    assert.ok(bus.arrived.length < 50, 'the locked message is not sent in a loop')
  } finally {
    released.resolve()
    await transaction
  }
  await allDelivered(first, 5)
  assert.deepEqual(numbersOn('locked', bus.arrived), [1, 2])
})

onEveryDialect('a lease', (dialect) => {
  const leaseOn = (store: Store, clock: Clock) =>
    createLease({ store, clock, name: 'delivery', ttlMs: LEASE_MS })
  const insertLease = (store: Store, holder: string, expires_at: number) =>
    store.write(({ db }) =>
      db.insertInto('leases').values({ name: 'delivery', holder, expires_at }).execute(),
    )

  test('is acquired, renewed and released by one of several processes', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const [a, b] = [leaseOn(world.store, clock), leaseOn(world.store, clock)]
    assert.deepEqual([await a.hold(), await b.hold()], [true, false])
    for (let turn = 0; turn < 10; turn++) {
      clock.advance(LEASE_MS / 2)
      assert.deepEqual([await a.hold(), await b.hold()], [true, false])
    }
    await b.release()
    assert.equal(await b.hold(), false, 'only its holder can release it')
    await a.release()
    assert.deepEqual([await b.hold(), await a.hold()], [true, false])
  })

  test('is lost by a holder that does not renew it in time', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const [a, b] = [leaseOn(world.store, clock), leaseOn(world.store, clock)]
    assert.equal(await a.hold(), true)
    clock.advance(LEASE_MS)
    assert.deepEqual([await b.hold(), await a.hold()], [true, false])
  })

  test('of a process on another host is free after its expiry', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, 'elsewhere/1/x', clock.now() + LEASE_MS)
    const lease = leaseOn(world.store, clock)
    clock.advance(LEASE_MS - 1)
    assert.equal(await lease.hold(), false)
    clock.advance(1)
    assert.equal(await lease.hold(), true)
  })

  test('of a process on another machine with the same host name is not free, whatever its pid', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, `${hostname()}/2147483646/x`, clock.now() + LEASE_MS)
    assert.equal(await leaseOn(world.store, clock).hold(), false)
  })

  test('expires when its holder does not renew it, even if the expiry is in the far future', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, 'elsewhere/1/x', clock.now() + 365 * 86_400_000)
    const lease = leaseOn(world.store, clock)
    assert.equal(await lease.hold(), false)
    clock.advance(LEASE_MS - 1)
    assert.equal(await lease.hold(), false)
    clock.advance(1)
    assert.equal(await lease.hold(), true)
  })

  test('is kept by a holder whose clock is ahead as long as it renews it', async () => {
    const [ahead, here] = [fakeClock(Date.UTC(2038, 0, 19)), fakeClock(Date.UTC(2026, 0, 31))]
    await using world = await testStore(dialect, here)
    const [holder, other] = [leaseOn(world.store, ahead), leaseOn(world.store, here)]
    for (let turn = 0; turn < 10; turn++) {
      assert.deepEqual([await holder.hold(), await other.hold()], [true, false])
      ahead.advance(LEASE_MS / 2)
      here.advance(LEASE_MS / 2)
    }
  })

  test('of a killed process on this host is free immediately', async () => {
    // The clock does not advance: nothing expires.
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const text = JSON.stringify(
      world.address.kind === 'sqlite'
        ? { kind: 'sqlite', path: world.address.path }
        : { kind: 'postgres', url: world.address.url.reveal() },
    )
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, text, String(clock.now())], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = (await once(holder.stdout, 'data')) as [Buffer]
    assert.equal(output.toString(), 'held')
    const lease = leaseOn(world.store, clock)
    assert.equal(await lease.hold(), false, 'its holder is alive')
    const exited = once(holder, 'exit')
    holder.kill('SIGKILL')
    await exited
    assert.equal(await lease.hold(), true)
  })
})

/** The code of a process that acquires the lease and then waits. */
const HOLDER = `
  import { Secret } from '../../src/kernel/secret.ts'
  import { silentLogger } from '../../src/kernel/logger.ts'
  import { noMetrics } from '../../src/kernel/metrics.ts'
  import { createLease } from '../../src/store/lease.ts'
  import { openStore } from '../../src/store/open.ts'
  const [text, now] = process.argv.slice(1)
  const { kind, path, url } = JSON.parse(text)
  const clock = { now: () => Number(now), monotonic: () => 0 }
  const database = kind === 'sqlite' ? { kind, path } : { kind, url: new Secret(url) }
  const store = await openStore({ database, clock, metrics: noMetrics, logger: silentLogger })
  const lease = createLease({ store, clock, name: 'delivery', ttlMs: ${LEASE_MS} })
  if (await lease.hold()) process.stdout.write('held')
  setInterval(() => {}, 1_000)
`
