import { cpus } from 'node:os'
import type { Bench } from './bench.ts'
import {
  formatBound,
  formatFigure,
  formatQuartiles,
  isMet,
  verdict,
  withUnit,
  type Measure,
} from './measure.ts'

/** The figures of a benchmark, and the conditions under which they were taken. */
export interface Report {
  readonly bench: Pick<Bench, 'name' | 'title'>
  readonly rounds: number
  readonly sliceMs: number
  readonly measures: readonly Measure[]
  readonly notes: readonly string[]
}

/** For programs. */
export function toJson({ bench, rounds, sliceMs, measures, notes }: Report): object {
  const machine = { node: process.version, cpus: cpus().length, cpu: cpuModel() }
  const judged = measures.map((measure) => ({ ...measure, met: isMet(measure) }))
  return { bench: bench.name, rounds, sliceMs, machine, measures: judged, notes }
}

export function chartName({ name }: Pick<Bench, 'name'>): string {
  return `bench-${name}.svg`
}

/** The text between the marks of a benchmark in docs/performance.md; `on` is a date. */
export function toMarkdown(report: Report, on: string): string {
  const { bench, rounds, sliceMs, measures, notes } = report
  const node = `Node.js ${process.version.slice(1)}`
  const conditions = `${rounds} rounds, slices of ${sliceMs / 1_000} s; ${node} on ${cpus().length} × ${cpuModel()}; ${on}.`
  return [
    `![${bench.title}](images/${chartName(bench)})`,
    markdownTable(measures),
    ...notes.map((note) => `_${note}_`),
    conditions,
  ].join('\n\n')
}

function cpuModel(): string {
  return cpus()[0]?.model ?? 'unknown'
}

const HEADING = ['measure', 'must', 'better still', 'reached (quartiles)', '']

/** Columns as the formatter aligns them. */
function markdownTable(measures: readonly Measure[]): string {
  const rows = [HEADING, ...measures.map(rowOf)]
  const widths = HEADING.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [
    line(HEADING),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.slice(1).map((row) => line(row)),
  ].join('\n')
}

function rowOf(measure: Measure): string[] {
  const { values, must, better } = measure
  const word = verdict(measure)
  return [
    // A bare pipe ends a cell of a Markdown table.
    withUnit(measure).replaceAll('|', '\\|'),
    formatBound(must),
    formatBound(better),
    `${formatFigure(values.median)} (${formatQuartiles(values)})`,
    word === 'missed' ? '**missed**' : word,
  ]
}

/** The document with new figures of a benchmark; undefined when it has no marks for it. */
export function withFigures(document: string, name: string, figures: string): string | undefined {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const from = document.indexOf(begin)
  const to = document.indexOf(end, from)
  if (from < 0 || to < 0) return undefined
  return `${document.slice(0, from + begin.length)}\n\n${figures}\n\n${document.slice(to)}`
}
