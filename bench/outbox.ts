import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstream } from '@nats-io/jetstream'
import { connect, headers } from '@nats-io/transport-node'
import { startNats, type NatsServer } from '../test/support/nats.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase } from './support/database.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { startPlatform } from './support/platform-server.ts'
import { peakMegabytes, residentMegabytes } from './support/resident.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { addPendingMessages } from './support/seed.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'
import { spreadOf } from './support/statistics.ts'
import { emptyStreams, untilStreamIsThere } from './support/streams.ts'

interface Sizes {
  readonly few: number
  readonly many: number
}

const SIZES: Readonly<Record<'full' | 'small', Sizes>> = {
  full: { few: 10_000, many: 100_000 },
  small: { few: 1_500, many: 3_000 },
}
const MEMORY_SAMPLES = 3

/** What has gathered while the bus was away is delivered, against the same client that only publishes. */
export const outbox: Bench = {
  name: 'outbox',
  title: 'P5: delivery after an outage of the bus',
  summary: 'delivery of 10,000 and 100,000 messages after an outage, against the bare client; memory',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const sizes = options.small ? SIZES.small : SIZES.full
    const nats = await startNats({ jetstream: true })
    stack.defer(() => nats.stop())
    return [
      ...rateMeasures(await drainRounds(nats, sizes, options), sizes),
      ...(await memoryMeasures(nats, sizes, options)),
    ]
  },
}

interface World {
  readonly nats: NatsServer
  readonly database: DatabaseSync
  readonly pid: number
}

async function startWorld(stack: AsyncDisposableStack, nats: NatsServer): Promise<World> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  const { pid } = stack.use(await startPlatform({ dataDir, port, env: { BUS_SERVER: nats.url } }))
  await untilStreamIsThere(nats)
  return { nats, pid, database: stack.use(openDatabase(dataDir)) }
}

/** A sample is a rate, in messages a second. */
async function drainRounds(nats: NatsServer, { few, many }: Sizes, options: RoundOptions) {
  await using stack = new AsyncDisposableStack()
  const world = await startWorld(stack, nats)
  const contestants: Contestant<number>[] = [
    { name: 'bare', run: (forMs) => publishBare(nats, forMs) },
    { name: 'few', run: () => drain(world, few) },
    { name: 'many', run: () => drain(world, many) },
  ]
  return await interleave(contestants, options)
}

/** An outage in which that many messages gather, until the last of them is delivered. */
async function drain({ nats, database }: World, count: number): Promise<number> {
  await emptyStreams(nats)
  await nats.kill()
  addPendingMessages(database, count, Date.now())
  await nats.restart()
  await untilDelivered(database)
  const rate = deliveryRate(database)
  database.exec('delete from messages where seq < (select max(seq) from messages)')
  return rate
}

const LOOK_EVERY_MS = 20

async function untilDelivered(database: DatabaseSync): Promise<void> {
  const waiting = database.prepare(`select 1 from messages where status = 'pending' limit 1`)
  while (waiting.get()) await pause(LOOK_EVERY_MS)
}

/** From the settlement of the first batch to that of the last one: without the time of the reconnection. */
function deliveryRate(database: DatabaseSync): number {
  const { milliseconds, later } = database.prepare(DELIVERY_TIMES).get() as {
    milliseconds: number
    later: number
  }
  return later / (milliseconds / 1_000)
}

// The newest message of the run before is still there, delivered long ago.
const DELIVERY_TIMES = `
  with times as (
    select delivered_at as at, min(delivered_at) over () as first from messages
    where created_at = (select max(created_at) from messages)
  )
  select max(at) - min(at) as milliseconds, sum(at > first) as later from times`

const IN_FLIGHT = 1_000
const PAYLOAD = JSON.stringify({ padding: '0'.repeat(540) })
let published = 0

/** Messages as long as ours, each acknowledged by the stream, with so many under way at once. */
async function publishBare(nats: NatsServer, forMs: number): Promise<number> {
  await emptyStreams(nats)
  const connection = await connect({ servers: nats.url })
  const client = jetstream(connection)
  const begin = performance.now()
  let acknowledged = 0
  const lane = async () => {
    while (performance.now() - begin < forMs) {
      const fields = headers()
      fields.set('content-type', 'application/cloudevents+json; charset=utf-8')
      await client.publish('order.created', PAYLOAD, { msgID: `bare-${published++}`, headers: fields })
      acknowledged += 1
    }
  }
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
    return acknowledged / ((performance.now() - begin) / 1_000)
  } finally {
    await connection.close()
  }
}

const SETTLING_MS = 1_000

/** Measures a new process each time, since one that has drained before has already taken what it needs. */
async function memoryMeasures(
  nats: NatsServer,
  { many }: Sizes,
  { small, signal, onSlice }: RoundOptions,
): Promise<Measure[]> {
  const samples: { idle: number; peak: number }[] = []
  for (let sample = 1; sample <= (small ? 1 : MEMORY_SAMPLES); sample++) {
    signal.throwIfAborted()
    onSlice(`memory: process ${sample} of ${MEMORY_SAMPLES}`)
    await using stack = new AsyncDisposableStack()
    const world = await startWorld(stack, nats)
    await pause(SETTLING_MS)
    const idle = residentMegabytes(world.pid)
    samples.push({ idle, peak: await peakMegabytes(world.pid, drain(world, many)) })
  }
  const waiting = many.toLocaleString('en')
  return [
    {
      what: `${waiting} waiting, highest memory above idle`,
      unit: 'MB',
      values: spreadOf(samples.map(({ idle, peak }) => peak - idle)),
      must: { atMost: 30 },
    },
    { what: 'idle memory', unit: 'MB', values: spreadOf(samples.map(({ idle }) => idle)) },
  ]
}

// docs/performance.md, P5: delivery after an outage
const RATE = { must: { atLeast: 0.8 }, better: { atLeast: 2 } }
const GROWTH = { must: { atMost: 1.2 } }

function rateMeasures(rounds: readonly Round<number>[], { few, many }: Sizes): Measure[] {
  const [fewer, more] = [few.toLocaleString('en'), many.toLocaleString('en')]
  const rate = (sample: number) => sample
  return [
    {
      what: `rate with ${more} waiting ÷ bare client`,
      values: ratio(rounds, 'many', 'bare', rate),
      ...RATE,
    },
    {
      what: `time for each, ${more} waiting ÷ ${fewer} waiting`,
      values: ratio(rounds, 'few', 'many', rate),
      ...GROWTH,
    },
    { what: `platform, ${more} waiting`, unit: 'messages/s', values: figures(rounds, 'many', rate) },
    { what: `platform, ${fewer} waiting`, unit: 'messages/s', values: figures(rounds, 'few', rate) },
    { what: 'bare client', unit: 'messages/s', values: figures(rounds, 'bare', rate) },
  ]
}
