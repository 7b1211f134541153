import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { Orders } from '../src/domains/orders/index.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import { noMetrics } from '../src/kernel/metrics.ts'
import type { Bench } from './support/bench.ts'
import { openDatabase, openQuietStore, sqliteIn } from './support/database.ts'
import { requireSuccess } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { createLoopProbe, type LoopProbe } from './support/probe.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { addDueOrders, seedOrders } from './support/seed.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'

interface Sizes {
  /** Orders in the database, a fifth of them pending. */
  readonly few: number
  readonly many: number
  /** Orders that are due at once. */
  readonly due: number
  readonly fewDue: number
}

const SIZES: Readonly<Record<'full' | 'small', Sizes>> = {
  full: { few: 10_000, many: 5_000_000, due: 10_000, fewDue: 1_000 },
  small: { few: 100, many: 500, due: 400, fewDue: 200 },
}

/** The search for orders that are due, when none is and when many are. */
export const scan: Bench = {
  name: 'scan',
  title: 'P4: the expiry scan',
  summary: 'the expiry scan: idle with 10,000 orders and 5,000,000; 10,000 due at once; POST meanwhile',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const sizes = options.small ? SIZES.small : SIZES.full
    const { path: fewDir } = stack.use(diskDirectory())
    const { path: manyDir } = stack.use(diskDirectory())
    await seedOrders(fewDir, { orders: sizes.few }, options)
    await seedOrders(manyDir, { orders: sizes.many }, options)
    return [
      ...idleMeasures(await idleRounds(fewDir, manyDir, options), sizes),
      ...expiryMeasures(await expiryRounds(manyDir, sizes, options), sizes),
    ]
  },
}

/** What the worker does every few seconds, here again and again; a sample is the microseconds of one scan. */
async function idleRounds(fewDir: string, manyDir: string, options: RoundOptions): Promise<Round<number>[]> {
  await using stack = new AsyncDisposableStack()
  const contestant = async (name: string, dataDir: string): Promise<Contestant<number>> => {
    const orders = await openOrders(stack, dataDir)
    return { name, run: (forMs) => timeScans(orders, forMs) }
  }
  return await interleave([await contestant('few', fewDir), await contestant('many', manyDir)], options)
}

async function openOrders(stack: AsyncDisposableStack, dataDir: string): Promise<Orders> {
  const store = await openQuietStore(sqliteIn(dataDir))
  stack.defer(() => store.close())
  const [events, alerts] = [{ append: async () => {} }, { raise: async () => {} }]
  const parts = { clock: systemClock, logger: silentLogger, metrics: noMetrics, expiryMs: 1, events, alerts }
  const payments = { orderLeftPending: async () => {}, askBeforeExpiry: async () => {} }
  return new Orders({ ...parts, store, payments })
}

async function timeScans(orders: Orders, forMs: number): Promise<number> {
  const begin = performance.now()
  let scans = 0
  for (; performance.now() - begin < forMs; scans++) {
    const { due } = await orders.expireDue(100)
    if (due > 0) throw new Error('a scan that should be idle found orders')
  }
  return ((performance.now() - begin) / scans) * 1_000
}

interface ExpirySample {
  readonly orders: number
  /** From the first order's expiry to the last one's. */
  readonly seconds: number
  readonly longestBlockMs: number
  /** 99th percentile of calls that came meanwhile. */
  readonly p99: number
}

interface World {
  readonly port: number
  readonly database: DatabaseSync
  readonly probe: LoopProbe
  readonly generator: LoadGenerator
}

async function expiryRounds(
  dataDir: string,
  { due, fewDue }: Sizes,
  options: RoundOptions,
): Promise<Round<ExpirySample>[]> {
  await using stack = new AsyncDisposableStack()
  const [port, probe] = [await freePort(), await createLoopProbe()]
  const env = { WORKER_ORDER_SCAN: '100ms', ...probe.env }
  stack.use(await startPlatform({ dataDir, port, modules: 'all', env }))
  const database = stack.use(openDatabase(dataDir))
  const world = { port, probe, database, generator: stack.use(startLoadGenerator()) }
  const contestants = [
    { name: 'load alone', run: (forMs: number) => load(world, forMs) },
    { name: 'scan', run: () => expire(world, due, async () => NaN) },
    { name: 'smaller scan', run: () => expire(world, fewDue, async () => NaN) },
    {
      name: 'scan under load',
      run: (forMs: number) => expire(world, due, async () => (await load(world, forMs)).p99),
    },
  ]
  return await interleave(contestants, options)
}

async function load({ generator, port }: World, forMs: number): Promise<ExpirySample> {
  const { p99 } = requireSuccess('the platform', await generator.apply(postOrders(port), forMs))
  return { p99, orders: 0, seconds: NaN, longestBlockMs: NaN }
}

// Written and carried into the database before they are due: the platform's own writing is what is measured.
const LEAD_MS = 1_500

/** Makes that many orders due at once, and does something while they expire. */
async function expire(world: World, count: number, meanwhile: () => Promise<number>): Promise<ExpirySample> {
  const { database, probe } = world
  const dueAt = Date.now() + LEAD_MS
  addDueOrders(database, count, dueAt)
  database.exec('pragma wal_checkpoint(passive)')
  await pause(dueAt - Date.now())
  await probe.read()
  const p99 = await meanwhile()
  await untilExpired(database, dueAt)
  return {
    p99,
    orders: count,
    longestBlockMs: (await probe.read()).longest,
    seconds: expirySeconds(database, dueAt, count),
  }
}

const LOOK_EVERY_MS = 20

async function untilExpired(database: DatabaseSync, dueAt: number): Promise<void> {
  const waiting = database.prepare(
    `select 1 from orders where status = 'pending' and expires_at <= ? limit 1`,
  )
  while (waiting.get(dueAt)) await pause(LOOK_EVERY_MS)
}

/** Orders of one batch carry about the same time, so the first batch counts for nothing: it is made up for. */
function expirySeconds(database: DatabaseSync, dueAt: number, count: number): number {
  const { milliseconds, later } = database.prepare(EXPIRY_TIMES).get({ ids: `due-${dueAt}-` }) as {
    milliseconds: number
    later: number
  }
  return (milliseconds / 1_000) * (count / later)
}

const EXPIRY_TIMES = `
  with times as (
    select expired_at as at, min(expired_at) over () as first from orders
    where order_id >= :ids and order_id < :ids || '~'
  )
  select max(at) - min(at) as milliseconds, sum(at > first) as later from times`

// docs/performance.md, P4: the expiry scan
const IDLE_GROWTH = { must: { atMost: 2 } }
const BLOCK = { must: { atMost: 10 } }
const TOTAL = { must: { atMost: 3 } }
const MEANWHILE = { must: { atMost: 3 } }

function idleMeasures(rounds: readonly Round<number>[], { few, many }: Sizes): Measure[] {
  const microseconds = (sample: number) => sample
  const [fewer, more] = [few.toLocaleString('en'), many.toLocaleString('en')]
  return [
    {
      what: `idle scan at ${more} orders ÷ at ${fewer}`,
      values: ratio(rounds, 'many', 'few', microseconds),
      ...IDLE_GROWTH,
    },
    { what: `idle scan at ${fewer} orders`, unit: 'µs', values: figures(rounds, 'few', microseconds) },
    { what: `idle scan at ${more} orders`, unit: 'µs', values: figures(rounds, 'many', microseconds) },
  ]
}

function expiryMeasures(rounds: readonly Round<ExpirySample>[], { due, fewDue, many }: Sizes): Measure[] {
  const [all, part] = [due.toLocaleString('en'), fewDue.toLocaleString('en')]
  const seconds = (sample: ExpirySample) => sample.seconds
  const block = (sample: ExpirySample) => sample.longestBlockMs
  const p99 = (sample: ExpirySample) => sample.p99
  const perOrder = ({ seconds, orders }: ExpirySample) => seconds / orders
  return [
    {
      what: `${all} due of ${many.toLocaleString('en')}, longest block of the event loop`,
      unit: 'ms',
      values: figures(rounds, 'scan', block),
      ...BLOCK,
    },
    { what: `${all} due, all expired`, unit: 's', values: figures(rounds, 'scan', seconds), ...TOTAL },
    {
      what: 'POST meanwhile, p99 ÷ without a scan',
      values: ratio(rounds, 'scan under load', 'load alone', p99),
      ...MEANWHILE,
    },
    {
      what: `time for each order, ${all} due ÷ ${part} due`,
      values: ratio(rounds, 'scan', 'smaller scan', perOrder),
    },
    { what: `${part} due, all expired`, unit: 's', values: figures(rounds, 'smaller scan', seconds) },
    { what: 'POST without a scan, p99', unit: 'ms', values: figures(rounds, 'load alone', p99) },
    { what: 'POST meanwhile, p99', unit: 'ms', values: figures(rounds, 'scan under load', p99) },
  ]
}
