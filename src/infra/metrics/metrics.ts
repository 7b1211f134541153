import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type Metric,
  type OpenMetricsContentType,
} from 'prom-client'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Labels, CounterOptions, MetricOptions, Metrics } from '../../kernel/metrics.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { SECOND } from '../../kernel/time.ts'

const PREFIX = 'platform_'

interface MetricsRegistry {
  readonly metrics: Metrics
  /** All metrics of the process, as OpenMetrics when the `Accept` header names it, else as Prometheus text 0.0.4. */
  expose(accept?: string): Promise<{ readonly contentType: string; readonly body: string }>
  /** Removes the hooks and the metrics. May be called twice. */
  close(): void
}

interface RegistryOptions {
  /** Logs the hooks that fail. */
  readonly logger: Logger
  readonly clock?: Clock
}

/** Metrics on prom-client, and the standard metrics of the process and of Node.js. */
export function createMetrics({ logger, clock = systemClock }: RegistryOptions): MetricsRegistry {
  const registry = new Registry()
  const hooks = new Set<ScrapeHook>()
  measureProcess(registry)
  return {
    metrics: {
      ...createRecorders(registry),
      onScrape: (collect, gauges = [], keepMs = 0) =>
        void hooks.add(new ScrapeHook({ collect, gauges, keepMs, logger, clock })),
    },
    async expose(accept = '') {
      await Promise.all([...hooks].map((hook) => hook.run()))
      const format = accept.includes('application/openmetrics-text') ? asOpenMetrics(registry) : registry
      return { contentType: format.contentType, body: await format.metrics() }
    },
    close() {
      hooks.clear()
      registry.clear()
    },
  }
}

function createRecorders(registry: Registry): Pick<Metrics, 'counter' | 'gauge' | 'histogram'> {
  const describe = ({ name, help, labels = [] }: MetricOptions) => ({
    name: `${PREFIX}${name}`,
    help,
    labelNames: [...labels],
    registers: [registry],
  })
  const rejected = new Counter(
    describe({
      name: 'metrics_rejected_total',
      help: 'Values that are not numbers, unknown labels, and series above the limit, by metric.',
      labels: ['metric'],
    }),
  )
  // Recording never throws into the code that it measures, and a log line for each rejection would flood the log.
  const safely = (
    { name, labels: labelNames = [] }: MetricOptions,
    record: (labels: Labels, value: number) => void,
    series = new Set<string>(),
  ) => {
    return (value: number, labels: Labels = {}): void => {
      const key = labelNames.map((label) => labels[label]).join('\n')
      try {
        // prom-client accepts NaN, which a counter would keep forever.
        if (Number.isNaN(value) || !hasRoom(series, key)) return rejected.inc({ metric: name })
        record(labels, value)
        series.add(key)
      } catch {
        rejected.inc({ metric: name })
      }
    }
  }
  const counterOf = onceByName((options) => {
    const counter = new Counter(describe(options))
    const add = safely(options, (labels, by) => counter.inc(labels, by))
    return { increment: (labels: Labels | undefined, by = 1) => add(by, labels) }
  })
  return {
    counter({ labels = [], ...options }) {
      if (isNames(labels)) return counterOf({ ...options, labels })
      const counter = counterOf({ ...options, labels: Object.keys(labels) })
      // Some parts register the same counter, each with values of its own.
      for (const series of combinationsOf(labels)) counter.increment(series, 0)
      return counter
    },
    gauge: onceByName((options) => {
      const gauge = new Gauge(describe(options))
      const series = new Set<string>()
      return {
        set: safely(options, (labels, value) => gauge.set(labels, value), series),
        clear() {
          clearGauge(gauge, options)
          series.clear()
        },
      }
    }),
    histogram: onceByName((options) => {
      const histogram = new Histogram({ ...describe(options), buckets: [...options.buckets] })
      return { observe: safely(options, (labels, value) => histogram.observe(labels, value)) }
    }),
  }
}

function isNames(labels: CounterOptions['labels'] & {}): labels is readonly string[] {
  return Array.isArray(labels)
}

function combinationsOf(labels: Readonly<Record<string, readonly string[]>>): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (combinations, [label, values]) =>
      combinations.flatMap((others) => values.map((value) => ({ ...others, [label]: value }))),
    [{}],
  )
}

/** prom-client resets a gauge without labels to 0 instead of removing it. */
function clearGauge(gauge: Gauge, { labels = [] }: MetricOptions): void {
  if (labels.length > 0) gauge.reset()
  else gauge.remove()
}

// More than any metric of the platform has. Bounds the memory if a label ever has values that clients choose.
const SERIES_LIMIT = 1_000

/** Whether a metric has this series, or may have one more. */
function hasRoom(series: ReadonlySet<string>, key: string): boolean {
  return series.has(key) || series.size < SERIES_LIMIT
}

function onceByName<Options extends MetricOptions, Recorder>(create: (options: Options) => Recorder) {
  const recorders = new Map<string, Recorder>()
  return (options: Options): Recorder => recorders.getOrInsertComputed(options.name, () => create(options))
}

// Metrics of little use; wrong if two scrapes follow each other closely; or named like counters without being counters.
const UNWANTED = /heap_space|eventloop_lag_(?:min|mean|stddev)|active_(?:handles|requests|resources_total)/

function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: 'platform_' })
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNWANTED.test(name)) registry.removeSingleMetric(name)
  }
}

// Rendering as OpenMetrics renames prom-client's counters permanently, so it gets new views of them each time.
function asOpenMetrics(registry: Registry): Registry<OpenMetricsContentType> {
  const views: Registry<OpenMetricsContentType> = new Registry()
  views.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const { name } of registry.getMetricsAsArray()) {
    views.registerMetric(Object.create(registry.getSingleMetric(name) ?? null) as Metric)
  }
  return views
}

// A database that hangs must not hold up the metrics that show it.
const TIMEOUT_MS = 2 * SECOND

interface ScrapeHookOptions {
  readonly collect: () => void | Promise<void>
  /** Cleared when `collect` fails. */
  readonly gauges: readonly { clear(): void }[]
  /** A result, also a failure, is kept so long; 0 runs `collect` at each scrape. */
  readonly keepMs: number
  readonly logger: Logger
  readonly clock: Clock
}

/** Updates metrics at a scrape. */
class ScrapeHook {
  readonly #options: ScrapeHookOptions
  #lastRun: Promise<void> | undefined
  #startedAt = 0

  constructor(options: ScrapeHookOptions) {
    this.#options = options
  }

  /** Never rejects. */
  run(): Promise<void> {
    const { clock, keepMs } = this.#options
    const now = clock.monotonic()
    if (this.#lastRun && now - this.#startedAt < keepMs) return this.#lastRun
    this.#startedAt = now
    this.#lastRun = this.#collect()
    return this.#lastRun
  }

  async #collect(): Promise<void> {
    const { collect, gauges, logger } = this.#options
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => timeout.reject(new Error(`A hook took longer than ${TIMEOUT_MS} ms.`)),
      TIMEOUT_MS,
    ).unref()
    try {
      await Promise.race([Promise.try(collect), timeout.promise])
    } catch (error) {
      for (const gauge of gauges) gauge.clear()
      logger.warn({ error: errorMessage(error) }, 'a metric could not be updated')
    } finally {
      clearTimeout(timer)
    }
  }
}
