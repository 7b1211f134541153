import type { Chance } from '../../support/random.ts'

/** A kind of fault, and what the platform guarantees under it. */
export interface Scenario {
  /** The argument of `npm run chaos -- NAME`; kebab-case. */
  readonly name: string
  /** Its section in docs/reliability.md. */
  readonly row: string
  readonly promise: string
  /** The unit of the rounds, in the plural. */
  readonly unit: string
  /**
   * Rounds of all parts together: `short` in the tests, `full` the default of `npm run chaos -- NAME`, `brief` that of `all`,
   * which shall take less than an hour (by default `full`).
   */
  readonly rounds: { readonly short: number; readonly brief?: number; readonly full: number }
  readonly parts: readonly Part[]
  /** Its short form as a test, below the root of the project; by default the test beside the scenario. */
  readonly shortForm?: string
  /** The reason why the scenario cannot run on this system; undefined when it can. */
  readonly unsupported?: () => string | undefined
}

export interface Part {
  readonly title: string
  /** Its share of the scenario's rounds; all by default. */
  readonly share?: number
  /** Returns the measurements; rejects when the promise is broken. */
  run(trial: Trial): Promise<Figures>
}

export interface Trial {
  readonly rounds: number
  /** Whether to run another round; a slow machine runs fewer of them instead of exceeding the time limit. */
  wantsMore(roundsDone: number): boolean
  readonly chance: Chance
  /** Disposed at the end of the part. */
  readonly scope: AsyncDisposableStack
  /** Aborted when the part was cancelled. */
  readonly signal: AbortSignal
  /** Requires a time in `npm run chaos`. Ignored in the tests, which share the machine with other programs. */
  requireTime(what: string, milliseconds: number, limitMs: number): void
  /** Shows the progress. */
  show(text: string): void
}

/** Measurements with readable names: `{ kills: 40, lost: 0 }`. */
export type Figures = Readonly<Record<string, number | string>>

export function roundsOf({ share = 1 }: Part, rounds: number): number {
  return Math.max(1, Math.round(rounds * share))
}

export function figuresText(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? value.toLocaleString('en') : value}`)
    .join(', ')
}
