import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/support/loopback.ts'
import { startNats, type NatsServer } from '../test/support/nats.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase } from './support/database.ts'
import { requireSuccess, rateOf } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'
import { emptyStreams, untilStreamIsThere } from './support/streams.ts'
import { BATCH, postTelemetry, startPacedTelemetry } from './support/telemetry-load.ts'

const SETTINGS = { TELEMETRY_RATE: '1000000', TELEMETRY_MAX_PENDING: '1000000' }

/** Telemetry up to its acknowledgement by the bus, and what orders notice of it. */
export const telemetry: Bench = {
  name: 'telemetry',
  title: 'P15: telemetry, and orders meanwhile',
  summary: 'batches of 100 items from 64 agents until the bus has them, and the rate of orders meanwhile',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const world = await startWorld(stack)
    const generator = stack.use(startLoadGenerator())
    const beside = stack.use(startLoadGenerator())
    const contestants: Contestant<Sample>[] = [
      { name: 'telemetry', run: (forMs) => deliver(world, generator, forMs) },
      { name: 'orders', run: (forMs) => order(world, generator, forMs) },
      { name: 'orders, paced', run: (forMs) => orderBesidePaced(world, generator, forMs) },
      { name: 'orders, full', run: (forMs) => orderBesideFull(world, [generator, beside], forMs) },
    ]
    return measuresOf(await interleave(contestants, options))
  },
}

interface World {
  readonly nats: NatsServer
  readonly port: number
  readonly database: DatabaseSync
}

interface Sample {
  /** A second. */
  readonly rate: number
}

async function startWorld(stack: AsyncDisposableStack): Promise<World> {
  const nats = await startNats({ jetstream: true })
  stack.defer(() => nats.stop())
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  stack.use(await startPlatform({ dataDir, port, env: { BUS_SERVER: nats.url, ...SETTINGS } }))
  await untilStreamIsThere(nats)
  return { nats, port, database: stack.use(openDatabase(dataDir)) }
}

/** Items a second, from the first request to the acknowledgement of the last item. */
async function deliver(world: World, generator: LoadGenerator, forMs: number): Promise<Sample> {
  await untilIdle(world)
  const begin = performance.now()
  const { statuses } = requireSuccess('telemetry', await generator.apply(postTelemetry(world.port), forMs))
  await untilDelivered(world)
  const items = (statuses[202] ?? 0) * BATCH
  return { rate: items / ((performance.now() - begin) / 1_000) }
}

async function order(world: World, generator: LoadGenerator, forMs: number): Promise<Sample> {
  await untilIdle(world)
  return requireSuccess('orders', await generator.apply(postOrders(world.port), forMs))
}

async function orderBesidePaced(world: World, generator: LoadGenerator, forMs: number): Promise<Sample> {
  await untilIdle(world)
  const paced = startPacedTelemetry(world.port)
  try {
    return requireSuccess('orders', await generator.apply(postOrders(world.port), forMs))
  } finally {
    await paced.stop()
  }
}

async function orderBesideFull(
  world: World,
  [generator, beside]: readonly [LoadGenerator, LoadGenerator],
  forMs: number,
): Promise<Sample> {
  await untilIdle(world)
  const [orders, items] = await Promise.all([
    generator.apply(postOrders(world.port), forMs),
    beside.apply(postTelemetry(world.port), forMs),
  ])
  requireSuccess('telemetry', items)
  return requireSuccess('orders', orders)
}

/** So that a slice does not pay for what the one before has left. */
async function untilIdle(world: World): Promise<void> {
  await untilDelivered(world)
  const waiting = world.database.prepare(`select 1 from messages where status = 'pending' limit 1`)
  while (waiting.get()) await pause(LOOK_EVERY_MS)
  await emptyStreams(world.nats)
}

const LOOK_EVERY_MS = 5

async function untilDelivered({ database }: World): Promise<void> {
  const waiting = database.prepare('select 1 from telemetry_totals where pending_items > 0')
  while (waiting.get()) await pause(LOOK_EVERY_MS)
}

// docs/performance.md, P15: telemetry
const RATE = { must: { atLeast: 20_000 } }
const ORDERS = { must: { atLeast: 0.7 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const of = (name: string) => figures(rounds, name, rateOf)
  return [
    { what: 'telemetry, acknowledged by the bus', unit: 'items/s', values: of('telemetry'), ...RATE },
    {
      what: 'rate of orders beside 64 agents at 100 items/s each ÷ alone',
      values: ratio(rounds, 'orders, paced', 'orders', rateOf),
      ...ORDERS,
    },
    {
      what: 'rate of orders beside as much telemetry as possible ÷ alone',
      values: ratio(rounds, 'orders, full', 'orders', rateOf),
    },
    { what: 'orders alone', unit: 'requests/s', values: of('orders') },
    { what: 'orders beside 64 agents', unit: 'requests/s', values: of('orders, paced') },
  ]
}
