import { alignColumns } from '../../src/kernel/text.ts'
import type { Round } from './rounds.ts'
import { spreadOf, type Spread } from './statistics.ts'

export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** One figure of a benchmark, over all rounds. */
export interface Measure {
  readonly what: string
  readonly values: Spread
  /** What the program must reach, and what would be better still; without them the figure only informs. */
  readonly must?: Bound
  readonly better?: Bound
  /** Figures of the same unit share a scale in the chart; one without a unit is a ratio. */
  readonly unit?: string
}

/** The ratio of one contestant to another one in each round. */
export function ratio<S>(
  rounds: readonly Round<S>[],
  of: string,
  to: string,
  figure: (sample: S) => number,
): Spread {
  return spreadOf(rounds.map((round) => figure(sampleOf(round, of)) / figure(sampleOf(round, to))))
}

/** A figure of one contestant as it is: it depends on the machine, and shows only the order of magnitude. */
export function figures<S>(rounds: readonly Round<S>[], of: string, figure: (sample: S) => number): Spread {
  return spreadOf(rounds.map((round) => figure(sampleOf(round, of))))
}

function sampleOf<S>(round: Round<S>, name: string): S {
  const sample = round.get(name)
  if (sample === undefined) throw new Error(`nothing is called ${name} in this benchmark`)
  return sample
}

/** Whether a measure reaches what it must; one without a bound does. */
export function isMet({ values, must }: Measure): boolean {
  return must === undefined || reaches(values.median, must)
}

/** In one word; empty for a measure that only informs. */
export function verdict(measure: Measure): 'better' | 'met' | 'missed' | '' {
  if (!measure.must) return ''
  if (!isMet(measure)) return 'missed'
  return measure.better && reaches(measure.values.median, measure.better) ? 'better' : 'met'
}

function reaches(value: number, bound: Bound): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost
}

export function measureTable(measures: readonly Measure[]): string {
  return alignColumns([
    ['measure', 'median', 'quartiles', 'must', 'better', 'verdict'],
    ...measures.map(rowOf),
  ])
}

function rowOf(measure: Measure): string[] {
  return [
    withUnit(measure),
    formatFigure(measure.values.median),
    formatQuartiles(measure.values),
    formatBound(measure.must),
    formatBound(measure.better),
    verdict(measure),
  ]
}

/** What was measured, and in what. */
export function withUnit({ what, unit }: Measure): string {
  return unit ? `${what}, ${unit}` : what
}

export function formatQuartiles({ lowerQuartile, upperQuartile }: Spread): string {
  return `${formatFigure(lowerQuartile)} – ${formatFigure(upperQuartile)}`
}

export function formatBound(bound: Bound | undefined): string {
  if (!bound) return ''
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`
}

/** Two or three digits that count. */
export function formatFigure(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en')
  if (value > 0 && value < 0.1) return value.toPrecision(2)
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}
