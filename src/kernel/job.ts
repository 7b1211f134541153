/** A periodic background task. */
export interface Job {
  /** Also the label of its metrics; kebab-case. */
  readonly name: string
  /** From the end of one run to the start of the next, in milliseconds. */
  readonly everyMs: number
  /** One run. It returns soon after `signal` is aborted, and leaves no partial changes. */
  run(signal: AbortSignal): Promise<void>
  /** The gauges that a run sets; they are cleared when it fails, so that no alarm rests on an old value. */
  readonly gauges?: readonly Gauge[]
}
