import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { readStream } from '../support/bus-reader.ts'
import { numberedTicket, numbersOfLane } from '../support/numbered-tickets.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { openEngine, type Engine, type EngineName } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const LANES = ['a', 'b', 'c']
// Longer than a lease, so that another process takes over from one that is suspended.
const SUSPENSION_MS = 11_000
// Messages without a break would only take the processor from the processes that deliver them.
const PACE_MS = 5
const PATIENCE = { timeoutMs: 60_000 }
const WORKERS = 4
const DUE_EACH_ROUND = 400

export const workers: Scenario = {
  name: 'workers',
  row: 'R-10',
  promise:
    'several processes on one database do everything once and in order, while any of them is suspended or killed',
  unit: 'suspensions and kills of the process that delivers, or kills of a worker',
  rounds: { short: 1, brief: 2, full: 8 },
  parts: [
    { title: 'the order of a client, on SQLite', run: (trial) => keepOrder(trial, 'sqlite') },
    { title: 'the order of a client, on PostgreSQL', run: (trial) => keepOrder(trial, 'postgres') },
    { title: 'four workers expire each order once, on SQLite', run: (trial) => expireOnce(trial, 'sqlite') },
    {
      title: 'four workers expire each order once, on PostgreSQL',
      run: (trial) => expireOnce(trial, 'postgres'),
    },
  ],
}

interface World {
  readonly engine: Engine
  readonly busUrl: string
  readonly apis: ServedPlatform[]
  readonly workers: ServedPlatform[]
  readonly scope: AsyncDisposableStack
  serve(modules: string): Promise<ServedPlatform>
  /** The process that delivers now. */
  deliverer(): Promise<ServedPlatform>
}

/** Api and worker processes on one database and one bus. */
async function openWorld(
  { scope }: Trial,
  engineName: EngineName,
  counts: { apis: number; workers: number },
): Promise<World> {
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const env = { BUS_SERVER: nats.url, WORKER_ORDER_SCAN: '50ms', ...engine.env }
  const serve = async (modules: string) => scope.use(await servePlatform({ dataDir, modules, env }))
  const serveMany = (modules: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => serve(modules)))
  const [apis, workerProcesses] = await Promise.all([
    serveMany('api', counts.apis),
    serveMany('worker', counts.workers),
  ])
  const deliverer = () =>
    eventually(
      'a process delivers',
      async () => {
        const [row] = await engine.rows(`select holder from leases where name = 'delivery'`)
        const processId = Number(String(row?.['holder']).split('/')[1])
        return [...apis, ...workerProcesses].find(({ pid }) => pid === processId)
      },
      PATIENCE,
    )
  return { engine, busUrl: nats.url, apis, workers: workerProcesses, scope, serve, deliverer }
}

/**
 * One client that sends numbered messages to one api after the other. Without an answer, or after a 503, it repeats the
 * request at the next api with the same Idempotency-Key, so that each number is accepted once.
 */
function startClient({ apis, scope }: World, chance: Chance) {
  const absent = new Set<ServedPlatform>()
  let stopping = false
  let abandoned = false
  let turn = 0
  const sent = new Map(LANES.map((lane) => [lane, 0]))

  const isAccepted = async (lane: string, number: number): Promise<boolean> => {
    const present = apis.filter((api) => !absent.has(api))
    const api = present[turn++ % present.length] as ServedPlatform
    const headers = { 'idempotency-key': `${lane}/${number}` }
    try {
      const answer = await api.call('POST', '/tickets', { body: numberedTicket(lane, number), headers })
      const body = await answer.text()
      assert.ok(answer.status === 201 || answer.status === 503, `${answer.status} ${body}`)
      return answer.status === 201
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return false
    }
  }

  const run = async () => {
    while (!stopping) {
      const lane = chance.pick(LANES)
      const number = (sent.get(lane) ?? 0) + 1
      while (!(await isAccepted(lane, number))) {
        // Only a failed trial gives up a message.
        if (abandoned) return
        await pause(20)
      }
      sent.set(lane, number)
      await pause(PACE_MS)
    }
  }
  const running = run()
  // stop() rejects with its error.
  running.catch(() => undefined)
  scope.defer(() => {
    stopping = true
    abandoned = true
  })
  const total = () => sent.values().reduce((sum, count) => sum + count, 0)
  return {
    sent: sent as ReadonlyMap<string, number>,
    total,
    moreThan: async (count: number) => {
      const goal = total() + count
      await eventually('more messages', () => total() >= goal, PATIENCE)
    },
    /** Sends nothing to this process until `welcome`; a pending request goes on. */
    avoid: (api: ServedPlatform) => void absent.add(api),
    welcome: (api: ServedPlatform) => void absent.delete(api),
    async stop() {
      stopping = true
      await running
    },
  }
}

async function keepOrder(trial: Trial, engineName: EngineName): Promise<Figures> {
  const world = await openWorld(trial, engineName, { apis: 2, workers: 2 })
  const { engine, busUrl } = world
  const client = startClient(world, trial.chance)
  const takeovers: number[] = []
  await client.moreThan(100)
  for (let round = 1; round <= trial.rounds; round++) {
    trial.signal.throwIfAborted()
    trial.show(`round ${round} of ${trial.rounds}`)
    await suspendDeliverer(world, client)
    takeovers.push(await killDeliverer(world, client))
  }
  await client.stop()
  const pending = () => engine.count(`select count(*) from messages where status = 'pending'`)
  await eventually('every message is delivered', async () => (await pending()) === 0, PATIENCE)
  const stored = await readStream(busUrl, 'PLATFORM')
  for (const [lane, count] of client.sent) {
    assert.deepEqual(
      numbersOfLane(lane, stored),
      Array.from({ length: count }, (_, index) => index + 1),
      lane,
    )
  }
  return {
    suspensions: trial.rounds,
    kills: trial.rounds,
    messages: client.total(),
    lost: 0,
    'out of order': 0,
    'slowest takeover ms': Math.round(Math.max(...takeovers)),
  }
}

type Client = ReturnType<typeof startClient>

async function suspendDeliverer({ engine, deliverer }: World, client: Client): Promise<void> {
  const suspended = await deliverer()
  client.avoid(suspended)
  suspended.signal('SIGSTOP')
  await pause(SUSPENSION_MS)
  // On SQLite the suspended process may hold the write lock, and then no other one can write.
  if (engine.name === 'postgres') {
    await eventually(
      'another process takes over',
      async () => (await deliverer()).pid !== suspended.pid,
      PATIENCE,
    )
  }
  suspended.signal('SIGCONT')
  client.welcome(suspended)
  await client.moreThan(100)
}

/** Returns the time until another process delivered. */
async function killDeliverer(world: World, client: Client): Promise<number> {
  const killed = await world.deliverer()
  client.avoid(killed)
  await killed.kill()
  const start = performance.now()
  const group = world.apis.includes(killed) ? world.apis : world.workers
  group.splice(group.indexOf(killed), 1)
  await world.deliverer()
  const takeover = performance.now() - start
  group.push(await world.serve(group === world.apis ? 'api' : 'worker'))
  await client.moreThan(100)
  return takeover
}

async function expireOnce(trial: Trial, engineName: EngineName): Promise<Figures> {
  const world = await openWorld(trial, engineName, { apis: 1, workers: WORKERS })
  const { engine, apis, workers: workerProcesses } = world
  const [api] = apis as [ServedPlatform]
  let due = 0
  for (let round = 1; round <= trial.rounds; round++) {
    trial.signal.throwIfAborted()
    trial.show(`round ${round} of ${trial.rounds}`)
    const killed = trial.chance.pick(workerProcesses)
    const making = makeDue(api, `r${round}`)
    await pause(trial.chance.between(0, 300))
    await killed.kill()
    workerProcesses.splice(workerProcesses.indexOf(killed), 1, await world.serve('worker'))
    due += await making
  }
  const left = () => engine.count(`select count(*) from orders where status = 'pending'`)
  await eventually('every order has expired', async () => (await left()) === 0, PATIENCE)
  await requireOrders(engine, new Map())
  const expired = await engine.count(`select count(*) from orders where status = 'expired'`)
  assert.equal(expired, due)
  return { kills: trial.rounds, workers: WORKERS, due, 'expired twice': 0 }
}

async function makeDue(api: ServedPlatform, prefix: string): Promise<number> {
  const lanes = 4
  const make = async (lane: number) => {
    for (let number = lane; number < DUE_EACH_ROUND; number += lanes) {
      const due = {
        order_id: `${prefix}-${number}`,
        platform: 'due',
        amount_cents: 1,
        expires_at: '2026-01-01T00:00:00Z',
      }
      const answer = await api.call('POST', '/orders', { body: due })
      assert.equal(answer.status, 201, await answer.text())
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => make(lane)))
  return DUE_EACH_ROUND
}
