import { createMetrics } from '../src/infra/metrics/metrics.ts'
import { silentLogger } from '../src/kernel/logger.ts'
import type { Bench } from './support/bench.ts'
import { readMetrics, sumOf, type MetricSample } from './support/exposition.ts'
import { requireSuccess } from './support/load-contestants.ts'
import { startLoadGenerator } from './support/load-generator.ts'
import { figures, type Measure } from './support/measure.ts'
import { postOrders } from './support/order-load.ts'
import { startPlatform } from './support/platform-server.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory } from './support/servers.ts'
import { spreadOf } from './support/statistics.ts'

const FEW_SERIES = 200
const MANY_SERIES = 2_000

/** How much of an order's time goes into recording what happened, and how long a scrape takes. */
export const metrics: Bench = {
  name: 'metrics',
  title: 'P12: recording and scraping',
  summary: 'recording as a share of POST /orders, and the time of a scrape at 200 series and 2,000',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const contestants = [
      await requests(stack),
      recordings(stack),
      scrapes(stack, FEW_SERIES),
      scrapes(stack, MANY_SERIES),
    ]
    return measuresOf(await interleave(contestants, options))
  },
}

type Sample = Readonly<Record<string, number>>

/** The platform under the load of `orders`: the time of one request, and how often each kind of metric is recorded. */
async function requests(stack: AsyncDisposableStack): Promise<Contestant<Sample>> {
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  const generator = stack.use(startLoadGenerator())
  stack.use(await startPlatform({ dataDir, port }))
  return {
    name: 'requests',
    async run(forMs) {
      const before = countRecordings(await readMetrics(port))
      const { rate, statuses } = requireSuccess('requests', await generator.apply(postOrders(port), forMs))
      const after = countRecordings(await readMetrics(port))
      const count = statuses[201] ?? 0
      return {
        nanoseconds: 1e9 / rate,
        counters: (after.counters - before.counters) / count,
        histograms: (after.histograms - before.histograms) / count,
      }
    },
  }
}

// Metrics that the program records. Those of its process are read by the scrape itself.
const COUNTERS = /^platform_(?!process_|nodejs_).*_total$/
const HISTOGRAMS = /^platform_(?!process_|nodejs_).*_count$/

function countRecordings(samples: readonly MetricSample[]) {
  return { counters: sumOf(samples, COUNTERS), histograms: sumOf(samples, HISTOGRAMS) }
}

const RECORDINGS_AT_ONCE = 1_000

/** The nanoseconds of one recording, with the labels that a request has. */
function recordings(stack: AsyncDisposableStack): Contestant<Sample> {
  const registry = openRegistry(stack)
  const counter = registry.metrics.counter({ name: 'bench_total', help: 'Recorded.', labels: ['status'] })
  const histogram = registry.metrics.histogram({
    name: 'bench_seconds',
    help: 'Recorded.',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  })
  return {
    name: 'recordings',
    run: async (forMs) => ({
      counter: nanosecondsOf(() => counter.increment({ status: 'pending' }), forMs / 2),
      histogram: nanosecondsOf(
        () => histogram.observe(0.003, { method: 'POST', route: '/orders', status: '201' }),
        forMs / 2,
      ),
    }),
  }
}

function nanosecondsOf(record: () => void, forMs: number): number {
  const begin = performance.now()
  let count = 0
  for (; performance.now() - begin < forMs; count += RECORDINGS_AT_ONCE)
    for (let each = 0; each < RECORDINGS_AT_ONCE; each++) record()
  return ((performance.now() - begin) / count) * 1e6
}

/** The milliseconds of one page with that many series, including the series of the process. */
function scrapes(stack: AsyncDisposableStack, series: number): Contestant<Sample> {
  const registry = openRegistry(stack)
  const counter = registry.metrics.counter({ name: 'bench_total', help: 'Filler.', labels: ['status'] })
  return {
    name: `scrapes-${series}`,
    async run(forMs) {
      for (let number = await countSeries(registry); number < series; number++)
        counter.increment({ status: String(number) })
      const begin = performance.now()
      let count = 0
      for (; performance.now() - begin < forMs; count++) await registry.expose()
      return { milliseconds: (performance.now() - begin) / count }
    },
  }
}

async function countSeries({ expose }: ReturnType<typeof createMetrics>): Promise<number> {
  return (await expose()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
}

function openRegistry(stack: AsyncDisposableStack): ReturnType<typeof createMetrics> {
  const registry = createMetrics({ logger: silentLogger })
  stack.defer(() => registry.close())
  return registry
}

// docs/performance.md, P12: metrics
const SHARE = { must: { atMost: 3 } }
const SCRAPE = { must: { atMost: 5 } }

function measuresOf(rounds: readonly Round<Sample>[]): Measure[] {
  const of = (name: string, figure: string) => figures(rounds, name, (sample) => sample[figure] ?? NaN)
  return [
    { what: 'recording, of the time of POST /orders', unit: '%', values: recordingPercent(rounds), ...SHARE },
    {
      what: `scrape at ${FEW_SERIES} series`,
      unit: 'ms',
      values: of(`scrapes-${FEW_SERIES}`, 'milliseconds'),
      ...SCRAPE,
    },
    {
      what: `scrape at ${MANY_SERIES.toLocaleString('en')} series`,
      unit: 'ms',
      values: of(`scrapes-${MANY_SERIES}`, 'milliseconds'),
    },
    { what: 'one recording, counter', unit: 'ns', values: of('recordings', 'counter') },
    { what: 'one recording, histogram', unit: 'ns', values: of('recordings', 'histogram') },
    { what: 'recordings for each request, counters', values: of('requests', 'counters') },
    { what: 'recordings for each request, histograms', values: of('requests', 'histograms') },
  ]
}

function recordingPercent(rounds: readonly Round<Sample>[]) {
  return spreadOf(
    rounds.map((round) => {
      const { counter = NaN, histogram = NaN } = round.get('recordings') ?? {}
      const { counters = NaN, histograms = NaN, nanoseconds = NaN } = round.get('requests') ?? {}
      return ((counters * counter + histograms * histogram) / nanoseconds) * 100
    }),
  )
}
