import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/support/loopback.ts'
import type { Bench } from './support/bench.ts'
import { createMemoryProbe, type MemoryProbe } from './support/collected.ts'
import { startEventReaders, type EventReaders } from './support/event-readers.ts'
import { figures, type Measure } from './support/measure.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Round } from './support/rounds.ts'
import { diskDirectory } from './support/servers.ts'
import { quantile, spreadOf } from './support/statistics.ts'
import { callSteadily, type SteadyCall } from './support/steady-load.ts'

interface Sizes {
  readonly warmUpMs: number
  readonly readers: number
  readonly eventsPerSecond: number
}

const SIZES: Readonly<Record<'full' | 'small', Sizes>> = {
  full: { warmUpMs: 6_000, readers: 1_000, eventsPerSecond: 1_000 },
  small: { warmUpMs: 500, readers: 20, eventsPerSecond: 100 },
}

interface Sample {
  /** The events that the slowest reader has received, as a share of the committed events. */
  readonly share: number
  readonly p99Ms: number
  readonly perSecond: number
}

/** The live stream under load: orders are created over HTTP, and each creation is an event for every reader. */
export const events: Bench = {
  name: 'events',
  title: 'P16: the live stream of events',
  summary:
    '1,000 readers of 1,000 events a second: events of each reader, time from commit to reader, memory',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const { warmUpMs, readers: count, eventsPerSecond } = options.small ? SIZES.small : SIZES.full
    const { path: dataDir } = stack.use(diskDirectory())
    const port = await freePort()
    const probe = await createMemoryProbe()
    const { pid } = stack.use(await startPlatform({ dataDir, port, env: probe.env }))
    options.onSlice('warming up')
    // Requests of any kind let the heap grow and the code be compiled.
    await createOrders(port, eventsPerSecond, warmUpMs)
    const before = await settledKibibytes(probe, pid)
    options.onSlice(`opening ${count} streams`)
    const readers = stack.use(await startEventReaders(port, count))
    const kibibytes = ((await settledKibibytes(probe, pid)) - before) / count
    const rounds = await interleave(
      [{ name: 'stream', run: (forMs) => measureSlice({ port, readers, eventsPerSecond, forMs }) }],
      options,
    )
    return [...measuresOf(rounds), memoryMeasure(kibibytes)]
  },
}

const SETTLE_MS = 1_500

/** The engine returns memory to the system some time after a collection. */
async function settledKibibytes(probe: MemoryProbe, pid: number): Promise<number> {
  await probe.residentKibibytes(pid)
  await pause(SETTLE_MS)
  return probe.residentKibibytes(pid)
}

interface Slice {
  readonly port: number
  readonly readers: EventReaders
  readonly eventsPerSecond: number
  readonly forMs: number
}

const ARRIVAL_LIMIT_MS = 5_000
const LOOK_EVERY_MS = 50

async function measureSlice({ port, readers, eventsPerSecond, forMs }: Slice): Promise<Sample> {
  await readers.report()
  const start = performance.now()
  const created = await createOrders(port, eventsPerSecond, forMs)
  const seconds = (performance.now() - start) / 1_000
  const { least, delaysMs } = await untilArrived(readers, created)
  const p99Ms = quantile(
    delaysMs.toSorted((a, b) => a - b),
    0.99,
  )
  return { share: least / created, p99Ms, perSecond: created / seconds }
}

let orders = 0

/** At a constant rate; returns how many were created when all are answered. */
function createOrders(port: number, perSecond: number, forMs: number): Promise<number> {
  return callSteadily({ port, perSecond, forMs, next: createOrder })
}

function createOrder(): SteadyCall {
  const body = { order_id: `bench-${process.pid}-${orders++}`, platform: 'live', amount_cents: 4_990 }
  return { method: 'POST', path: '/orders', body }
}

/** The events of the reader that has the fewest, once all have come or none came for a while. */
async function untilArrived(readers: EventReaders, wanted: number) {
  const delaysMs: number[] = []
  const totals: number[] = []
  const limit = performance.now() + ARRIVAL_LIMIT_MS
  for (;;) {
    const report = await readers.report()
    delaysMs.push(...report.delaysMs)
    for (const [index, count] of report.counts.entries()) totals[index] = (totals[index] ?? 0) + count
    const least = Math.min(...totals)
    if (least >= wanted || performance.now() > limit) return { least, delaysMs }
    await pause(LOOK_EVERY_MS)
  }
}

// docs/performance.md, P16: live stream of events
function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const of = (figure: (sample: Sample) => number) => figures(rounds, 'stream', figure)
  return [
    {
      what: 'events of the reader with the fewest ÷ events',
      values: of(({ share }) => share),
      must: { atLeast: 1 },
    },
    {
      what: 'from the event to its reader, p99',
      unit: 'ms',
      values: of(({ p99Ms }) => p99Ms),
      must: { atMost: 100 },
    },
    { what: 'events committed', unit: 'events/s', values: of(({ perSecond }) => perSecond) },
  ]
}

function memoryMeasure(kibibytes: number): Measure {
  return {
    what: 'memory for each reader',
    unit: 'KiB',
    values: spreadOf([kibibytes]),
    must: { atMost: 20 },
  }
}
