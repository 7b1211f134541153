import type { Chance } from '../../support/random.ts'

/** A kind of trouble, and what the platform promises to whoever is in it. */
export interface Scenario {
  /** What `npm run chaos -- NAME` calls it; kebab-case. */
  readonly name: string
  /** The row of the reliability plan. */
  readonly row: string
  readonly promise: string
  /** What is counted as one round, in the plural. */
  readonly unit: string
  /** Rounds of all parts together: in `npm test`, and in `npm run chaos` when nothing else is asked for. */
  readonly rounds: { readonly short: number; readonly full: number }
  readonly parts: readonly Part[]
  /** Why this system cannot show it, when it cannot. */
  readonly hindrance?: () => string | undefined
}

export interface Part {
  readonly title: string
  /** How much of the scenario's rounds it gets; all, if not given. */
  readonly share?: number
  /** Rejects when a promise is broken; answers what was measured on the way. */
  run(trial: Trial): Promise<Figures>
}

export interface Trial {
  readonly rounds: number
  /** Whether another round is wanted after that many: a slow machine shows less rather than failing for its slowness. */
  wantsMore(roundsDone: number): boolean
  readonly chance: Chance
  /** Closed when the part has ended, however it ended. */
  readonly scope: AsyncDisposableStack
  /** Aborted when nobody waits for the outcome any more. */
  readonly signal: AbortSignal
  /** Tells whoever watches how far it is. */
  show(text: string): void
}

/** What was measured, under names for people: `{ kills: 40, lost: 0 }`. */
export type Figures = Readonly<Record<string, number | string>>

export function roundsOf({ share = 1 }: Part, rounds: number): number {
  return Math.max(1, Math.round(rounds * share))
}

export function figuresText(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? value.toLocaleString('en') : value}`)
    .join(', ')
}
