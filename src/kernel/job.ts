import type { Gauge, Metrics } from './metrics.ts'
import { SECOND } from './time.ts'

/** Runs one batch after the other, until one says that there are no more or `signal` is aborted. */
export async function runBatches(signal: AbortSignal, runBatch: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && (await runBatch()));
}

/** Something that the worker does again and again (docs/specification.md, Configuration). */
export interface Job {
  /** Also the label of its metrics; kebab-case. */
  readonly name: string
  /** From the end of one run to the start of the next, in milliseconds. */
  readonly everyMs: number
  /** One run. It stops soon after `signal` is aborted, and leaves nothing half done. */
  run(signal: AbortSignal): Promise<void>
  /** The gauges that a run sets; they are cleared when it fails, so that no alarm rests on an old value. */
  readonly gauges?: readonly Gauge[]
}

/** A job whose runs are batches; see {@link runBatches}. */
export function batchJob(name: string, everyMs: number, runBatch: () => Promise<boolean>): Job {
  return { name, everyMs, run: (signal) => runBatches(signal, runBatch) }
}

// As the help texts of the gauges say.
const COUNT_EVERY_MS = 30 * SECOND

export interface CountOptions<Value extends string> {
  readonly name: string
  readonly gauge: { readonly name: string; readonly help: string }
  /** The label of the gauge, and all of its values: one that is not counted is 0. */
  readonly label: string
  readonly values: readonly Value[]
  count(): Promise<readonly (readonly [value: Value, count: number])[]>
}

/** A job that counts objects by one of their fields, every 30 seconds. */
export function countJob<Value extends string>(
  metrics: Metrics,
  { name, gauge: { name: metric, help }, label, values, count }: CountOptions<Value>,
): Job & { readonly gauges: readonly Gauge[] } {
  const gauge = metrics.gauge({ name: metric, help, labels: [label] })
  return {
    name,
    everyMs: COUNT_EVERY_MS,
    gauges: [gauge],
    async run() {
      const counts = new Map(await count())
      for (const value of values) gauge.set(counts.get(value) ?? 0, { [label]: value })
    },
  }
}
