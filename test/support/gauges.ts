import { noMetrics, type Gauge, type Metrics } from '../../src/kernel/metrics.ts'

/** Metrics that remember the present values of gauges. */
export function recordedGauges() {
  const values = new Map<string, number>()
  const gauge = ({ name }: { readonly name: string }): Gauge => ({
    set: (value, labels = {}) => void values.set([name, ...Object.values(labels)].join(' '), value),
    clear: () =>
      [...values.keys()].filter((key) => key.startsWith(name)).forEach((key) => values.delete(key)),
  })
  return { values, metrics: { ...noMetrics, gauge } satisfies Metrics }
}
