import { setTimeout as sleep } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Metric, OpenMetricsContentType } from 'prom-client'
import { errorMessage } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Gauge as ScrapeGauge, Labels, MetricOptions, Metrics } from '../../kernel/metrics.ts'
import { SECOND } from '../../kernel/time.ts'

const PREFIX = 'platform_'
const HOOK_PATIENCE_MS = 2 * SECOND

export interface MetricsRegistry {
  readonly metrics: Metrics
  /** All metrics of the process, as OpenMetrics when the `Accept` header names it, else as Prometheus text 0.0.4. */
  expose(accept?: string): Promise<{ readonly contentType: string; readonly body: string }>
  /** Forgets the hooks and the metrics. May be called twice. */
  close(): void
}

/** The port `Metrics` on prom-client, with measurements of the process. `logger` is told of hooks that fail. */
export function createMetrics({ logger }: { readonly logger: Logger }): MetricsRegistry {
  const registry = new Registry()
  const hooks = new Set<Hook>()
  measureProcess(registry)
  return {
    metrics: {
      ...createRecorders(registry),
      onScrape: (collect, gauges = []) => void hooks.add({ collect, gauges }),
    },
    async expose(accept = '') {
      await Promise.all([...hooks].map((hook) => runHook(hook, logger)))
      const shown = accept.includes('application/openmetrics-text') ? asOpenMetrics(registry) : registry
      return { contentType: shown.contentType, body: await shown.metrics() }
    },
    close() {
      hooks.clear()
      registry.clear()
    },
  }
}

interface Hook {
  readonly collect: () => void | Promise<void>
  readonly gauges: readonly ScrapeGauge[]
}

async function runHook({ collect, gauges }: Hook, logger: Logger): Promise<void> {
  try {
    await Promise.race([Promise.try(collect), refuseLate()])
  } catch (error) {
    for (const gauge of gauges) gauge.clear()
    logger.warn({ error: errorMessage(error) }, 'a metric could not be brought up to date')
  }
}

// A store that hangs must not take with it the page that would tell of it.
async function refuseLate(): Promise<never> {
  await sleep(HOOK_PATIENCE_MS, undefined, { ref: false })
  throw new Error(`A hook took longer than ${HOOK_PATIENCE_MS} ms.`)
}

function createRecorders(registry: Registry): Pick<Metrics, 'counter' | 'gauge' | 'histogram'> {
  const described = ({ name, help, labels = [] }: MetricOptions) => ({
    name: `${PREFIX}${name}`,
    help,
    labelNames: [...labels],
    registers: [registry],
  })
  const rejected = new Counter(
    described({
      name: 'metrics_rejected_total',
      help: 'Values that were no numbers, labels that a metric does not have, and series too many, by metric.',
      labels: ['metric'],
    }),
  )
  // Recording never throws into the work that it measures, and a log line for each refusal would flood the log.
  const safely = ({ name }: MetricOptions, record: (labels: Labels, value: number) => void) => {
    const isKnownOrNew = seriesLimit()
    return (value: number, labels: Labels = {}): void => {
      try {
        // prom-client takes NaN, which would stay in a counter for good.
        if (Number.isNaN(value) || !isKnownOrNew(labels)) rejected.inc({ metric: name })
        else record(labels, value)
      } catch {
        rejected.inc({ metric: name })
      }
    }
  }
  return {
    counter: onceByName((options) => {
      const counter = new Counter(described(options))
      const add = safely(options, (labels, by) => counter.inc(labels, by))
      return { increment: (labels, by = 1) => add(by, labels) }
    }),
    gauge: onceByName((options) => {
      const gauge = new Gauge(described(options))
      return {
        set: safely(options, (labels, value) => gauge.set(labels, value)),
        clear: () => clearGauge(gauge, options),
      }
    }),
    histogram: onceByName((options) => {
      const histogram = new Histogram({ ...described(options), buckets: [...options.buckets] })
      return { observe: safely(options, (labels, value) => histogram.observe(labels, value)) }
    }),
  }
}

/** prom-client resets a gauge without labels to 0 instead of removing it. */
function clearGauge(gauge: Gauge, { labels = [] }: MetricOptions): void {
  if (labels.length > 0) gauge.reset()
  else gauge.remove()
}

// More than any metric of ours has. What a client sent must not become a label; should it ever, memory stays bounded.
const SERIES_LIMIT = 1_000

/** Whether a metric has these labels already, or may still have them as new ones. */
function seriesLimit(): (labels: Labels) => boolean {
  const known = new Set<string>()
  return (labels) => {
    const series = Object.values(labels).join('\n')
    if (known.has(series)) return true
    if (known.size >= SERIES_LIMIT) return false
    known.add(series)
    return true
  }
}

function onceByName<Options extends MetricOptions, Recorder>(make: (options: Options) => Recorder) {
  const made = new Map<string, Recorder>()
  return (options: Options): Recorder => made.getOrInsertComputed(options.name, () => make(options))
}

// Noise; wrong when two scrapes follow each other closely; or named as counters without being any.
const UNWANTED = /heap_space|eventloop_lag_(?:min|mean|stddev)|active_(?:handles|requests|resources_total)/

function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: PREFIX })
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNWANTED.test(name)) registry.removeSingleMetric(name)
  }
}

// Rendering as OpenMetrics renames prom-client's counters for good: it is given views of them, made anew each time.
function asOpenMetrics(registry: Registry): Registry<OpenMetricsContentType> {
  const views: Registry<OpenMetricsContentType> = new Registry()
  views.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const { name } of registry.getMetricsAsArray()) {
    views.registerMetric(Object.create(registry.getSingleMetric(name) ?? null) as Metric)
  }
  return views
}
