import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { listenTo, readStream, withoutRepetitions, type Arrival } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { startOrderClients, type OrderStep } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { openEngine, requireIntegrity, type EngineName, type Row } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const CLIENTS = 8
const MAX_LOAD_MS = 300
const DRAIN_MS = 60_000

export const killStorm: Scenario = {
  name: 'kill-storm',
  row: 'R-1',
  promise: 'kill -9 under load loses no acknowledged order and no event',
  unit: 'rounds of kills',
  rounds: { short: 30, full: 400 },
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
  const { chance, rounds, wantsMore, scope, signal, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const listener = scope.use(await listenTo(nats.url, ['order.>', 'alert.>']))
  const env = { BUS_SERVER: nats.url, WORKER_ORDER_SCAN: '50ms', ...engine.env }
  let slowestStartMs = 0
  const serve = async (module: string) => {
    const start = performance.now()
    const served = scope.use(await servePlatform({ dataDir, modules: module, env }))
    slowestStartMs = Math.max(slowestStartMs, performance.now() - start)
    return served
  }

  const acknowledged = new Map<string, OrderStep>()
  let round = 0
  while (wantsMore(round)) {
    round++
    signal.throwIfAborted()
    show(`round ${round} of ${rounds}, ${acknowledged.size} orders acknowledged`)
    const processes = await Promise.all(modules.map(serve))
    const acknowledgedNow = await loadAndKill(processes, `r${round}`, chance)
    for (const [id, status] of acknowledgedNow) acknowledged.set(id, status)
    if (engineName === 'sqlite') requireIntegrity(dataDir, `round ${round}`)
  }

  const last = await serve('all')
  const pending = () => engine.count(`select count(*) from messages where status = 'pending'`)
  await eventually('everything to be delivered', async () => (await pending()) === 0, { timeoutMs: DRAIN_MS })
  assert.equal(await last.stop(), 0)

  assert.ok(acknowledged.size > round, 'the load was too small for a meaningful test')
  await requireOrders(engine, acknowledged)
  const messages = await engine.rows('select id, subject, status from messages order by seq')
  assert.deepEqual(new Set(messages.map(({ status }) => status)), new Set(['delivered']))
  const received = listener.connections.flat()
  // With concurrent writers the order of messages is that of their commits, which no column records.
  const requireReceived = engineName === 'sqlite' ? requireSequence : requireCompleteness
  requireReceived(messages, await readStream(nats.url, 'PLATFORM'), 'the stream')
  requireReceived(messages, withoutRepetitions(received), 'a subscriber')
  return {
    kills: round * modules.length,
    'orders acknowledged': acknowledged.size,
    lost: 0,
    messages: messages.length,
    'sent again': received.length - messages.length,
    'slowest start ms': Math.round(slowestStartMs),
  }
}

/** Kills the processes under load; returns what the clients had acknowledged before. */
async function loadAndKill(
  processes: readonly ServedPlatform[],
  prefix: string,
  chance: Chance,
): Promise<ReadonlyMap<string, OrderStep>> {
  const [api] = processes as readonly [ServedPlatform]
  const clients = startOrderClients({ url: api.url, clients: CLIENTS, prefix, chance })
  // Most kills happen under load, some during the first calls.
  if (chance.number() < 0.8) await eventually('some load', () => clients.acknowledged.size > 0)
  await pause(chance.between(0, MAX_LOAD_MS))
  await killInRandomOrder(processes, chance)
  await clients.stop()
  assert.deepEqual(clients.unexpected, [], prefix)
  return clients.acknowledged
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
