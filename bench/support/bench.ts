import type { Measure } from './measure.ts'
import type { RoundOptions } from './rounds.ts'

/** A benchmark of docs/performance.md: what is measured, and against what. */
export interface Bench {
  /** As in `npm run bench -- NAME`; the name of its file. */
  readonly name: string
  /** Above its chart. */
  readonly title: string
  readonly summary: string
  /** Starts everything, measures, stops everything. Rejects when a figure could not be taken. */
  run(options: RoundOptions): Promise<Measure[]>
}
