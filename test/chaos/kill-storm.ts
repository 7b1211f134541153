import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { listenTo, readStream, withoutRepetitions, type Arrival } from '../support/bus-reader.ts'
import { startNats } from '../support/nats.ts'
import { startOrderClients, type OrderStep } from '../support/order-clients.ts'
import type { ServedPlatform } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import type { EngineName, Row } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { killWithClients, LOAD, openStorm } from './support/storm.ts'

const CLIENTS = 8

export const killStorm: Scenario = {
  name: 'kill-storm',
  row: 'R-1',
  promise: 'kill -9 under load loses no acknowledged order and no event',
  unit: 'rounds of kills',
  rounds: { short: 10, brief: 100, full: 400 },
  parts: [
    { title: 'everything in one process', share: 0.55, run: (trial) => storm(trial, 'sqlite', ['all']) },
    {
      title: 'api and worker in separate processes, killed one by one',
      share: 0.35,
      run: (trial) => storm(trial, 'sqlite', ['api', 'worker']),
    },
    { title: 'on PostgreSQL', share: 0.1, run: (trial) => storm(trial, 'postgres', ['all']) },
  ],
}

async function storm(trial: Trial, engineName: EngineName, modules: readonly string[]): Promise<Figures> {
  const { chance, scope } = trial
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['order.>', 'alert.>']))
  const world = await openStorm(trial, engineName, { BUS_SERVER: nats.url, WORKER_ORDER_SCAN: '50ms' })
  const { engine } = world
  const starts: number[] = []
  const serve = async (module: string) => {
    const start = performance.now()
    const served = await world.serve(module)
    starts.push(performance.now() - start)
    return served
  }

  const acknowledged = new Map<string, OrderStep>()
  const rounds = await world.repeatKills(
    () => `${acknowledged.size} orders`,
    async (round) => {
      const processes = await Promise.all(modules.map(serve))
      const [{ url }] = processes as [ServedPlatform]
      const clients = startOrderClients({ url, clients: CLIENTS, prefix: `r${round}`, chance })
      await killWithClients(clients, { round, chance }, () => killInRandomOrder(processes, chance))
      for (const [id, status] of clients.acknowledged) acknowledged.set(id, status)
    },
  )
  await world.drain(`select count(*) from messages where status = 'pending'`)

  assert.ok(acknowledged.size >= LOAD, 'the load was too small for a meaningful test')
  await requireOrders(engine, acknowledged)
  const messages = await engine.rows('select id, subject, status from messages order by seq')
  assert.deepEqual(new Set(messages.map(({ status }) => status)), new Set(['delivered']))
  const received = listener.connections.flat()
  // With concurrent writers the order of messages is that of their commits, which no column records.
  const requireReceived = engineName === 'sqlite' ? requireSequence : requireCompleteness
  requireReceived(messages, await readStream(nats.url, 'PLATFORM'), 'the stream')
  requireReceived(messages, withoutRepetitions(received), 'a subscriber')
  return {
    kills: rounds * modules.length,
    'orders acknowledged': acknowledged.size,
    lost: 0,
    messages: messages.length,
    'sent again': received.length - messages.length,
    'slowest start ms': Math.round(Math.max(...starts)),
  }
}

/** Kills the processes in random order, with a short wait in between. */
async function killInRandomOrder(processes: readonly ServedPlatform[], chance: Chance): Promise<void> {
  const order = chance.number() < 0.5 ? processes : processes.toReversed()
  for (const each of order) {
    await each.kill()
    await pause(chance.between(0, 50))
  }
}

/** Requires that a receiver has every written message once. */
function requireCompleteness(messages: readonly Row[], received: readonly Arrival[], receiver: string): void {
  const ids = (list: readonly { id?: unknown }[]) => list.map(({ id }) => String(id)).sort()
  assert.deepEqual(ids(received), ids(messages), receiver)
}

/** Requires that a receiver has every written message, each subject in the order of the commits. */
function requireSequence(messages: readonly Row[], received: readonly Arrival[], receiver: string): void {
  const idsBySubject = (list: readonly { subject?: unknown; id?: unknown }[]) => {
    const groups = Map.groupBy(list, ({ subject }) => String(subject))
    return Object.fromEntries([...groups].map(([subject, some]) => [subject, some.map(({ id }) => id)]))
  }
  const [written, arrived] = [idsBySubject(messages), idsBySubject(received)]
  assert.deepEqual(Object.keys(arrived).sort(), Object.keys(written).sort(), receiver)
  for (const [subject, ids] of Object.entries(written)) {
    assert.equal(arrived[subject]?.length, ids.length, `${receiver}, ${subject}`)
    const wrong = ids.findIndex((id, index) => arrived[subject]?.[index] !== id)
    assert.equal(wrong, -1, `${receiver}: message ${wrong} of ${subject} is out of order`)
  }
}
