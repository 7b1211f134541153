import { alignColumns } from '../../src/kernel/table.ts'
import type { Slice } from './load.ts'
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
}

/** How one contestant stands to another one in each round. */
export function ratio(
  rounds: readonly Round[],
  of: string,
  to: string,
  figure: (slice: Slice) => number,
): Spread {
  return spreadOf(rounds.map((round) => figure(sliceOf(round, of)) / figure(sliceOf(round, to))))
}

/** A figure of one contestant as it is: it depends on the machine, and shows only the order of magnitude. */
export function figures(rounds: readonly Round[], of: string, figure: (slice: Slice) => number): Spread {
  return spreadOf(rounds.map((round) => figure(sliceOf(round, of))))
}

function sliceOf(round: Round, name: string): Slice {
  const slice = round.get(name)
  if (!slice) throw new Error(`nothing is called ${name} in this benchmark`)
  return slice
}

/** Whether a measure reaches what it must; one without a bound does. */
export function isMet({ values, must }: Measure): boolean {
  return must === undefined || reaches(values.median, must)
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
  const { what, values, must, better } = measure
  const { median, lowerQuartile, upperQuartile } = values
  return [
    what,
    formatFigure(median),
    `${formatFigure(lowerQuartile)} – ${formatFigure(upperQuartile)}`,
    formatBound(must),
    formatBound(better),
    verdict(measure),
  ]
}

function verdict(measure: Measure): string {
  if (!measure.must) return ''
  if (!isMet(measure)) return 'missed'
  return measure.better && reaches(measure.values.median, measure.better) ? 'better' : 'met'
}

function formatBound(bound: Bound | undefined): string {
  if (!bound) return ''
  return 'atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`
}

/** Three digits that count. */
function formatFigure(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}
