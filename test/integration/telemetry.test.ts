import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { Messages } from '../../src/domains/messages/index.ts'
import { Telemetry, TelemetryOutbox } from '../../src/domains/telemetry/index.ts'
import { Dispatcher } from '../../src/infra/bus/dispatcher.ts'
import type { Bus, BusMessage } from '../../src/kernel/bus.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { HOUR, MINUTE, SECOND } from '../../src/kernel/time.ts'
import type { PlatformAlert } from '../../src/ports/alerts.ts'
import type { DeadLetters, Outbox } from '../../src/ports/outbox.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { createLease } from '../../src/store/work/lease.ts'
import { noAlerts } from '../support/declared-alerts.ts'
import { fakeClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { MemoryBus } from '../support/memory-bus.ts'
import { listen, openBus, openServer, waitForConnection } from '../support/nats-bus.ts'
import { onEveryDialect, testStore } from '../support/store.ts'

const LEASE_MS = 10 * SECOND
const FAILED = { outcome: 'failed', reason: 'the stream is full' } as const
const REFUSED = { outcome: 'refused', reason: 'no permission' } as const
const MAX_PENDING = 20_000

/** A process with both outboxes and their dispatchers. */
async function openWorldOn<B extends Bus>(bus: B, dialect: DialectName, deadLetters?: DeadLetters) {
  await using opening = new AsyncDisposableStack()
  const clock = fakeClock()
  const { store } = opening.use(await testStore(dialect, clock))
  const parts = { store, clock, logger: silentLogger, metrics: noMetrics }
  const start = (name: string, outbox: Outbox) => {
    const lease = createLease({ store, clock, name, ttlMs: LEASE_MS })
    const dispatcher = new Dispatcher({ ...parts, bus, outbox, lease })
    opening.defer(() => dispatcher.close())
    dispatcher.start()
    return dispatcher
  }
  const delivery = {
    wake: () => dispatchers.forEach((each) => each.wake()),
    waitForSettlement: async () => {},
  }
  const messages = new Messages({ ...parts, delivery, alerts: noAlerts })
  const events = messages.eventsOf<number>('orders', String)
  const telemetry = new Telemetry({
    ...parts,
    delivery,
    newestMessage: messages.newestNumber,
    maxPending: MAX_PENDING,
    ratePerSecond: 100,
  })
  const alerts: PlatformAlert[] = []
  const outbox = new TelemetryOutbox({
    store,
    clock,
    alerts: { ...noAlerts, raise: async (tx, alert) => tx.afterCommit(() => alerts.push(alert)) },
    deadLetters: deadLetters ?? messages,
  })
  const dispatchers = [start('delivery', messages), start('telemetry-delivery', outbox)]
  const opened = opening.move()
  return {
    clock,
    store,
    bus,
    messages,
    telemetry,
    delivery,
    alerts,
    /** The subject and reason of each dead message. */
    async dead() {
      const { items } = await messages.list({ status: 'dead' }, { limit: 100 })
      return items.map(({ id, subject, lastError }) => ({ id, subject, reason: lastError }))
    },
    async addOrder(number: number) {
      await store.write((tx) =>
        events.append(tx, { type: 'order.created', subject: `o-${number}`, data: number }),
      )
    },
    pending: async () => (await telemetry.totals()).pending,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

type WorldOn<B extends Bus> = Awaited<ReturnType<typeof openWorldOn<B>>>
type World = WorldOn<MemoryBus>

/** On a bus in memory. */
function openWorld(dialect: DialectName, deadLetters?: DeadLetters): Promise<World> {
  return openWorldOn(new MemoryBus(), dialect, deadLetters)
}

/** Sends numbered items of an agent in one request. */
function send(world: WorldOn<Bus>, agentId: string, from: number, count: number) {
  const lines = Array.from({ length: count }, (_, index) => `{"n":${from + index}}`)
  return sendLines(world, agentId, lines)
}

function sendLines({ store, telemetry, clock }: WorldOn<Bus>, agentId: string, lines: readonly string[]) {
  const count = lines.length
  const content = lines.join('\n')
  const lastItem = `{"at":"2026-01-31T02:00:00.000Z","data":{"n":${clock.now()}}}`
  const upload = { agentId, items: count, bytes: content.length, content, lastItem }
  return store.write((tx) => telemetry.accept(tx, upload, 'collector'))
}

/** As many agents, each with one item, are in the database faster than by requests. */
async function addWaitingAgents({ store }: World, count: number): Promise<void> {
  await store.write(async ({ db }) => {
    await sql`
      with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})
      insert into telemetry_uploads (id, agent_id, items, bytes, sent, accepted_at, accepted_by, content)
      select printf('019c1000-0000-7000-8000-%09d000', n), 'agent-' || n, 1, 7, 0, 0, 'collector', '{"n":0}'
      from numbers`.execute(db)
    await sql`update telemetry_totals set pending_items = ${count}, pending_bytes = ${7 * count}`.execute(db)
  })
}

function numberIn({ payload }: BusMessage): number {
  return (JSON.parse(payload) as { data: { n: number } }).data.n
}

const telemetryOf = (bus: MemoryBus, agentId: string) =>
  bus.arrived.filter(({ subject }) => subject === `telemetry.agent.${agentId}`)

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

onEveryDialect('the delivery of telemetry', (dialect) => {
  test('the items of each agent arrive in the order in which they were accepted', async () => {
    await using world = await openWorld(dialect)
    for (let round = 0; round < 4; round++)
      for (const agent of ['a', 'b', 'c']) await send(world, agent, round * 25, 25)
    await eventually('all items to be delivered', async () => (await world.pending()) === 0)
    for (const agent of ['a', 'b', 'c'])
      assert.deepEqual(telemetryOf(world.bus, agent).map(numberIn), upTo(100), agent)
  })

  test('an agent that fails in the middle of a batch delays no other, and loses and repeats nothing', async () => {
    await using world = await openWorld(dialect)
    const { bus, clock, delivery } = world
    let isFull = true
    bus.rule = (message) =>
      isFull && message.subject === 'telemetry.agent.a' && numberIn(message) >= 30 ? FAILED : undefined
    for (const agent of ['a', 'b']) {
      await send(world, agent, 0, 50)
      await send(world, agent, 50, 50)
    }
    await eventually('the items of b to be delivered', () => telemetryOf(bus, 'b').length === 100)
    await eventually('what a could send to be delivered', () => telemetryOf(bus, 'a').length >= 30)
    isFull = false
    await eventually('all items to be delivered', async () => {
      clock.advance(SECOND)
      delivery.wake()
      return (await world.pending()) === 0
    })
    assert.deepEqual(telemetryOf(bus, 'a').map(numberIn), upTo(100))
  })

  test('what the bus refuses for good is sent once and becomes a dead message; the others are delivered once', async () => {
    await using world = await openWorld(dialect)
    const { bus, messages, delivery } = world
    let refusals = 0
    bus.rule = (message) => {
      if (message.subject !== 'telemetry.agent.a' || numberIn(message) % 10 !== 5) return undefined
      refusals++
      return REFUSED
    }
    for (let round = 0; round < 4; round++) await send(world, 'a', round * 10, 10)
    await send(world, 'b', 0, 2)
    await eventually('all items to be settled', async () => (await world.pending()) === 0)
    assert.deepEqual(
      telemetryOf(bus, 'a').map(numberIn),
      upTo(40).filter((n) => n % 10 !== 5),
    )
    assert.equal(refusals, 4)
    const dead = await world.dead()
    assert.deepEqual(
      dead.map(({ subject, reason }) => [subject, reason]),
      upTo(4).map(() => ['telemetry.agent.a', 'no permission']),
    )
    assert.ok(world.alerts.every(({ body }) => body.includes('the agent a: no permission')))
    bus.rule = () => undefined
    const [newest] = dead
    await world.store.write((tx) => messages.redrive(tx, newest?.id ?? ''))
    delivery.wake()
    await eventually('the message to be delivered', () => bus.arrived.at(-1)?.id === newest?.id)
    assert.equal(numberIn(bus.arrived.at(-1) as BusMessage), 35)
  })

  test('while there is no room for dead messages, a refused item is sent again alone, after growing pauses', async () => {
    let hasRoom = false
    await using world = await openWorld(dialect, { setAside: async () => hasRoom })
    const { bus, clock, delivery } = world
    const attempts: number[] = []
    bus.rule = (message) => {
      if (message.subject !== 'telemetry.agent.a') return undefined
      attempts.push(numberIn(message))
      return numberIn(message) === 1 ? REFUSED : undefined
    }
    await send(world, 'a', 0, 3)
    for (let second = 0; second < 60; second++) {
      clock.advance(SECOND)
      // Shows that the dispatcher has polled.
      await send(world, 'b', second, 1)
      await eventually('the item of b to arrive', () => telemetryOf(bus, 'b').length === second + 1)
    }
    assert.deepEqual([attempts[0], attempts[1]], [0, 1])
    assert.ok(attempts.length <= 13, `${attempts.length} attempts in a minute`)
    hasRoom = true
    await eventually('all items to be settled', async () => {
      clock.advance(30 * SECOND)
      delivery.wake()
      return (await world.pending()) === 0
    })
    assert.deepEqual(telemetryOf(bus, 'a').map(numberIn).at(-1), 2)
  })
})

describe('telemetry on a server with a small limit', () => {
  for (const jetstream of [false, true])
    test(`an item that is too large is set aside, ${jetstream ? 'with' : 'without'} JetStream`, async (t) => {
      const limit = 'max_payload: 4096'
      const nats = await openServer(t, { jetstream, config: limit })
      const arrived = await listen(t, nats.url)
      const bus = await waitForConnection(openBus(t, [nats.url]))
      await using world = await openWorldOn(bus, 'sqlite')
      await sendLines(world, 'a', ['{"n":0}', `{"n":"${'x'.repeat(5_000)}"}`, '{"n":1}'])
      await send(world, 'a', 2, 20)
      await eventually('all items to be settled', async () => {
        world.clock.advance(SECOND)
        return (await world.pending()) === 0
      })
      await eventually('the items to arrive', () => arrived.length >= 22)
      await send(world, 'a', 22, 1)
      await eventually('a later item to arrive', () => arrived.length >= 23)
      assert.deepEqual(arrived.map(numberIn), upTo(23))
      const dead = await world.dead()
      assert.deepEqual(
        dead.map(({ subject }) => subject),
        ['telemetry.agent.a'],
      )
      assert.match(dead[0]?.reason ?? '', /max_payload/)
      assert.match(world.alerts[0]?.body ?? '', /the agent a: .*max_payload/)
      assert.equal(world.alerts.length, 1)
    })
})

describe('telemetry that waits', () => {
  test('40,000 agents on a full stream delay no other event', async () => {
    await using world = await openWorld('sqlite')
    const { bus, messages } = world
    bus.rule = ({ subject }) => (subject.startsWith('telemetry.') ? FAILED : undefined)
    bus.disconnect()
    await addWaitingAgents(world, 40_000)
    await Promise.all(upTo(20).map((number) => world.addOrder(number)))
    let attempts = 0
    const { rule } = bus
    bus.rule = (message) => {
      if (message.subject.startsWith('telemetry.')) attempts++
      return rule(message)
    }
    bus.connect()
    await eventually('the orders to be delivered', async () => (await messages.backlog()).pending === 0)
    await eventually('telemetry to be tried', () => attempts > 0)
    await world.addOrder(20)
    await eventually('a later order to be delivered', async () => (await messages.backlog()).pending === 0)
    assert.equal(bus.arrived.length, 21)
    assert.ok(attempts < 10_000, `${attempts} attempts: agents of one stream wait together`)
    bus.rule = () => undefined
    bus.disconnect()
    bus.connect()
    await eventually('all telemetry to be delivered', async () => (await world.pending()) === 0, {
      timeoutMs: 120_000,
    })
    assert.equal(new Set(bus.arrived.map(({ id }) => id)).size, 40_021)
  })

  test('an outage of an hour stays within the bound, and what was accepted arrives', async () => {
    await using world = await openWorld('sqlite')
    const { bus, clock } = world
    bus.disconnect()
    let accepted = 0
    let refused = 0
    for (let minute = 0; minute < HOUR / MINUTE; minute++) {
      // 32 agents that send 125 items a minute: 240,000 items in an hour.
      const requests = upTo(32).map((agent) => send(world, `agent-${agent}`, 0, 125))
      for (const result of await Promise.allSettled(requests)) {
        if (result.status === 'fulfilled') accepted += 125
        else {
          assert.ok(result.reason instanceof AppError && result.reason.code === 'rate_limited')
          refused += 125
        }
      }
      clock.advance(MINUTE)
    }
    assert.equal(accepted, MAX_PENDING)
    assert.equal(accepted + refused, 240_000)
    assert.equal(await world.pending(), MAX_PENDING)
    await world.addOrder(1)
    bus.connect()
    await eventually('all telemetry to be delivered', async () => (await world.pending()) === 0, {
      timeoutMs: 120_000,
    })
    const first = bus.arrived.findIndex(({ subject }) => subject === 'order.created')
    assert.ok(first >= 0 && first < 5_000, `the order came as number ${first}`)
    assert.equal(bus.arrived.length, MAX_PENDING + 1)
    await send(world, 'agent-0', 0, 20)
  })
})
