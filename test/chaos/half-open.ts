import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { readStream } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy, type Fault, type FaultProxy } from '../support/fault-proxy.ts'
import { startNats } from '../support/nats.ts'
import { OVERDUE, startOrderClients, type OrderStep } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, type Engine } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { askHealth, slowest, watchHealth } from './support/watch.ts'
import { acknowledgedIn, DONE, REFUSED, unexpectedIn, writeOrder, type Written } from './support/writers.ts'

const PATIENCE = { timeoutMs: 60_000 }
// One connection to the bus; a new one may be opened before the last one is closed.
const BUS_SOCKETS = 3
// The pool of the store.
const DATABASE_SOCKETS = 10
const CLIENTS = 6

export const halfOpen: Scenario = {
  name: 'half-open',
  row: 'R-7',
  promise: 'a silent, slow or broken network is detected, blocks no request, and is recovered from',
  unit: 'faults',
  rounds: { short: 1, brief: 3, full: 10 },
  parts: [
    { title: 'the bus stops responding', run: silentBus },
    { title: 'the connection to the bus is slow and breaks', run: brokenBusConnection },
    { title: 'PostgreSQL stops responding', run: silentDatabase },
    { title: 'the connection to PostgreSQL is slow and breaks', run: brokenDatabaseConnection },
  ],
}

async function behindBus({ scope }: Trial) {
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const proxy = scope.use(await startFaultProxy(nats.port))
  const dataDir = scope.use(temporaryDirectory()).path
  const env = { BUS_SERVER: `nats://127.0.0.1:${proxy.port}` }
  const platform = scope.use(await servePlatform({ dataDir, env }))
  await eventually('the bus', async () => (await askHealth(platform.url)).bus === 'ok', PATIENCE)
  return { nats, proxy, platform, engine: await openEngine('sqlite', dataDir, scope) }
}

async function behindDatabase({ scope }: Trial) {
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('postgres', dataDir, scope)
  const url = new URL(engine.env['DATABASE_URL'] ?? '')
  const proxy = scope.use(await startFaultProxy(Number(url.port)))
  url.port = String(proxy.port)
  const platform = scope.use(await servePlatform({ dataDir, env: { DATABASE_URL: url.href } }))
  return { proxy, platform, engine }
}

async function silentBus(trial: Trial): Promise<Figures> {
  const { nats, proxy, platform, engine } = await behindBus(trial)
  const written: Written[] = []
  const noticed: number[] = []
  const recovered: number[] = []
  const watch = watchHealth(platform.url)
  trial.scope.defer(() => watch.stop())
  for (let round = 1; round <= trial.rounds; round++) {
    trial.signal.throwIfAborted()
    trial.show(`silence ${round} of ${trial.rounds}`)
    proxy.disturb({ hold: true })
    noticed.push(
      await timeUntil('the bus to be offline', async () => (await askHealth(platform.url)).bus === 'offline'),
    )
    for (let number = 0; number < 20; number++)
      written.push(await writeOrder(platform, `r${round}-${number}`))
    proxy.disturb()
    recovered.push(await timeUntil('everything to be delivered', async () => (await pendingIn(engine)) === 0))
  }
  await watch.stop()
  assert.deepEqual(unexpectedIn(written, [DONE]), [], 'the bus must not affect a request')
  assert.ok(watch.answers.every(({ status }) => status === 200))
  assert.ok(proxy.mostOpen <= BUS_SOCKETS, `${proxy.mostOpen} concurrent connections to the bus`)
  await requireOrders(engine, acknowledgedIn(written))
  await requireStored(engine, nats.url)
  return {
    silences: trial.rounds,
    'noticed within ms': Math.round(Math.max(...noticed)),
    'drained within ms': Math.round(Math.max(...recovered)),
    lost: 0,
    'slowest order ms': slowest(written),
    'slowest health ms': slowest(watch.answers),
    'connections at once': proxy.mostOpen,
  }
}

async function brokenBusConnection(trial: Trial): Promise<Figures> {
  const { nats, proxy, platform, engine } = await behindBus(trial)
  const acknowledged = await underFaults(trial, platform, proxy)
  // The worker still expires orders after the last answer.
  await eventually('the worker to be done', async () => (await overdueIn(engine)) === 0, PATIENCE)
  await eventually('everything to be delivered', async () => (await pendingIn(engine)) === 0, PATIENCE)
  await requireOrders(engine, acknowledged)
  await requireStored(engine, nats.url)
  return {
    faults: trial.rounds * FAULTS.length,
    acknowledged: acknowledged.size,
    lost: 0,
    connections: proxy.taken,
  }
}

async function silentDatabase(trial: Trial): Promise<Figures> {
  const { proxy, platform, engine } = await behindDatabase(trial)
  const written: Written[] = []
  const noticed: number[] = []
  const recovered: number[] = []
  const write = async (prefix: string) => {
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, client) => writeOrder(platform, `${prefix}-${client}`)),
    )
    written.push(...answers)
    return answers
  }
  const watch = watchHealth(platform.url)
  trial.scope.defer(() => watch.stop())
  for (let round = 1; round <= trial.rounds; round++) {
    trial.signal.throwIfAborted()
    trial.show(`silence ${round} of ${trial.rounds}`)
    await write(`r${round}-before`)
    proxy.disturb({ hold: true })
    const during = write(`r${round}-silent`)
    noticed.push(
      await timeUntil('health to be 503', async () => (await askHealth(platform.url)).status === 503),
    )
    assert.deepEqual(unexpectedIn(await during, [REFUSED]), [])
    proxy.disturb()
    let attempt = 0
    recovered.push(
      await timeUntil('all orders to be accepted', async () =>
        (await write(`r${round}-after-${attempt++}`)).every(({ status }) => status === 201),
      ),
    )
  }
  await watch.stop()
  assert.deepEqual(unexpectedIn(written, [DONE, REFUSED]), [])
  assert.ok(proxy.mostOpen <= DATABASE_SOCKETS * 2, `${proxy.mostOpen} connections at once`)
  assert.equal(await platform.stop(), 0)
  await requireOrders(engine, acknowledgedIn(written))
  return {
    silences: trial.rounds,
    'noticed within ms': Math.round(Math.max(...noticed)),
    'refused within ms': slowest(written.filter(({ status }) => status === 503)),
    'recovered within ms': Math.round(Math.max(...recovered)),
    lost: 0,
    'slowest health ms': slowest(watch.answers),
    'connections at once': proxy.mostOpen,
  }
}

async function brokenDatabaseConnection(trial: Trial): Promise<Figures> {
  const { proxy, platform, engine } = await behindDatabase(trial)
  const acknowledged = await underFaults(trial, platform, proxy)
  assert.equal(await platform.stop(), 0, 'the program still runs and stops in order')
  await requireOrders(engine, acknowledged)
  return {
    faults: trial.rounds * FAULTS.length,
    acknowledged: acknowledged.size,
    lost: 0,
    connections: proxy.taken,
  }
}

/** The faults in their order; each time with new random numbers. */
const FAULTS: readonly ((chance: Trial['chance']) => Fault)[] = [
  (chance) => ({ delayMs: chance.between(5, 100) }),
  (chance) => ({ resetAfter: chance.between(100, 20_000) }),
  (chance) => ({ bytesPerSecond: chance.between(50_000, 200_000) }),
  (chance) => ({ endAfter: chance.between(100, 20_000) }),
]

/** Runs writing clients under one fault after the other, and requires that they are served after the last one. */
async function underFaults(
  { chance, rounds, scope, signal, show }: Trial,
  platform: ServedPlatform,
  proxy: FaultProxy,
): Promise<ReadonlyMap<string, OrderStep>> {
  const clients = startOrderClients({ url: platform.url, clients: CLIENTS, prefix: 'c', chance })
  scope.defer(() => clients.stop())
  for (let number = 0; number < rounds * FAULTS.length; number++) {
    signal.throwIfAborted()
    show(`fault ${number + 1} of ${rounds * FAULTS.length}`)
    proxy.disturb(FAULTS[number % FAULTS.length]?.(chance))
    proxy.cut()
    await pause(chance.between(300, 900))
  }
  proxy.disturb()
  const goal = clients.acknowledged.size + 2 * CLIENTS
  await eventually('the clients to be served again', () => clients.acknowledged.size > goal, PATIENCE)
  await clients.stop()
  assert.deepEqual([...new Set(clients.unexpected)], [], failuresIn(platform))
  return clients.acknowledged
}

function pendingIn(engine: Engine): Promise<number> {
  return engine.count(`select count(*) from messages where status = 'pending'`)
}

function overdueIn(engine: Engine): Promise<number> {
  return engine.count(
    `select count(*) from orders where status = 'pending' and expires_at <= ${Date.parse(OVERDUE)}`,
  )
}

/** Requires that the stream contains every message once. */
async function requireStored(engine: Engine, busUrl: string): Promise<void> {
  const stored = await readStream(busUrl, 'PLATFORM')
  const written = await engine.rows('select id from messages')
  assert.deepEqual(stored.map(({ id }) => id).sort(), written.map(({ id }) => String(id)).sort())
}

async function timeUntil(what: string, isReached: () => Promise<boolean>): Promise<number> {
  const start = performance.now()
  await eventually(what, isReached, PATIENCE)
  return performance.now() - start
}

/** The errors in the program's log. */
function failuresIn(platform: ServedPlatform): string {
  const lines = platform.logs().filter(({ level }) => level === 'error')
  return [...new Set(lines.map((line) => JSON.stringify(line['error'] ?? line.message)))]
    .slice(0, 5)
    .join('\n')
}
