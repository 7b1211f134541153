export type Labels = Readonly<Record<string, string>>

export interface Counter {
  increment(labels?: Labels, by?: number): void
}

export interface Gauge {
  set(value: number, labels?: Labels): void
  /** Removes all values: the gauge is absent until the next `set`. For a value that is unknown at the moment. */
  clear(): void
}

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
   * `collect` runs at each scrape, before the values are read; it must be quick. When it fails, `gauges` are cleared, so
   * that no alert is based on a stale value.
   */
  onScrape(collect: () => void | Promise<void>, gauges?: readonly Gauge[]): void
}

/** Records nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ increment() {} }),
  gauge: () => ({ set() {}, clear() {} }),
  histogram: () => ({ observe() {} }),
  onScrape() {},
}
