/** Values by the name of the label. */
export type Labels = Readonly<Record<string, string>>

/** A number that only grows. */
export interface Counter {
  /** By 1 if `by` is left out; 0 makes the series exist, so that an alarm sees its first increase. */
  increment(labels?: Labels, by?: number): void
}

/** A number that grows and shrinks. */
export interface Gauge {
  set(value: number, labels?: Labels): void
  /** Removes all values: the gauge is absent until the next `set`. For a value that is unknown at the moment. */
  clear(): void
}

/** Counts values by size. */
export interface Histogram {
  /** `value` in the unit that the metric's name ends with (`_seconds`, `_bytes`). */
  observe(value: number, labels?: Labels): void
}

export interface MetricOptions {
  /** Without the prefix `platform_`; a counter's name ends in `_total` (Prometheus naming). */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/**
 * The registry of metrics. Label values must come from a small fixed set, never from client input.
 * A second call with the same name returns the same metric.
 */
export interface Metrics {
  counter(options: MetricOptions): Counter
  gauge(options: MetricOptions): Gauge
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram
  /**
   * `collect` runs at each scrape, before the values are read; it must be quick. When it fails, the gauges that it sets
   * are cleared: an alarm must not rest on an old value. With `keepMs` it runs once in that time at most, however many
   * scrapes there are: required if it reads the database, because `/metrics` is public.
   */
  onScrape(collect: () => void | Promise<void>, gauges?: readonly Gauge[], keepMs?: number): void
}

/**
 * A counter whose series exist from the start, one for each combination of the labels' values, so that an alarm sees the first
 * increase of each.
 */
export function createSeriesCounter(
  metrics: Metrics,
  {
    labels,
    ...options
  }: Omit<MetricOptions, 'labels'> & { readonly labels: Readonly<Record<string, readonly string[]>> },
): Counter {
  const counter = metrics.counter({ ...options, labels: Object.keys(labels) })
  const series = Object.entries(labels).reduce<Labels[]>(
    (known, [label, values]) =>
      known.flatMap((others) => values.map((value) => ({ ...others, [label]: value }))),
    [{}],
  )
  for (const combination of series) counter.increment(combination, 0)
  return counter
}

/** Records nothing; for tests and commands. */
export const noMetrics: Metrics = {
  counter: () => ({ increment() {} }),
  gauge: () => ({ set() {}, clear() {} }),
  histogram: () => ({ observe() {} }),
  onScrape() {},
}
