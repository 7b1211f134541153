/** Values by the name of the label. */
export type Labels = Readonly<Record<string, string>>

/** A number that only grows. */
export interface Counter {
  /** By 1 if `by` is left out. */
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

export interface CounterOptions extends Omit<MetricOptions, 'labels'> {
  /**
   * The names of the labels with their values: the series of each combination exists from the start, so that an alarm sees its
   * first increase. Or the names alone, where the values are not known.
   */
  readonly labels?: Readonly<Record<string, readonly string[]>> | readonly string[]
}

/**
 * The registry of metrics. Label values must come from a small fixed set, never from client input.
 * A second call with the same name returns the same metric.
 */
export interface Metrics {
  counter(options: CounterOptions): Counter
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
 * Gauges that are set at a scrape, by their names with their help texts. `read` returns their values, or undefined where they
 * stay as they are. `keepMs` is that of {@link Metrics.onScrape}.
 */
export function exposeGauges<Name extends string>(
  metrics: Metrics,
  helps: Readonly<Record<Name, string>>,
  read: () => Promise<Readonly<Record<Name, number>> | undefined>,
  keepMs: number,
): void {
  const names = Object.keys(helps) as Name[]
  const gauges = names.map((name) => metrics.gauge({ name, help: helps[name] }))
  const collect = async () => {
    const values = await read()
    if (values) names.forEach((name, index) => gauges[index]?.set(values[name]))
  }
  metrics.onScrape(collect, gauges, keepMs)
}

/** Records nothing; for tests and commands. */
export const noMetrics: Metrics = {
  counter: () => ({ increment() {} }),
  gauge: () => ({ set() {}, clear() {} }),
  histogram: () => ({ observe() {} }),
  onScrape() {},
}
