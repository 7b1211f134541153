import type { Gauge } from './metrics.ts'

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
