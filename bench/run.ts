// `npm run bench` lists the benchmarks, `npm run bench -- NAME` runs one, `-- all --docs` runs all and brings
// docs/performance.md up to date: exit code 0 when every figure reaches what it must, 1 when one does not or cannot be
// taken, 2 for wrong usage. What they measure and why: docs/performance.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alignColumns } from '../src/kernel/text.ts'
import { BENCHES } from './benches.ts'
import type { Bench } from './support/bench.ts'
import { chartSvg } from './support/chart.ts'
import { parseRequest, USAGE, type RunRequest } from './support/command-line.ts'
import { interruption } from './support/interruption.ts'
import { isMet, measureTable } from './support/measure.ts'
import { createProgress } from './support/progress.ts'
import { chartName, toJson, toMarkdown, withFigures, type Report } from './support/report.ts'

const DOCS = join(import.meta.dirname, '../docs')

async function main(args: readonly string[]): Promise<number> {
  const request = parseRequest(args, BENCHES)
  if (request.kind === 'run') return run(request)
  if (request.kind === 'list') return list()
  process.stderr.write(`bench: ${request.message}\n`)
  return 2
}

function list(): number {
  const rows = BENCHES.map(({ name, summary }) => [name, summary])
  process.stdout.write(`${USAGE}\n\n${alignColumns([['NAME', 'what is measured'], ...rows])}`)
  return 0
}

async function run(request: RunRequest): Promise<number> {
  const signal = interruption()
  const reports: Report[] = []
  for (const bench of request.benches) {
    if (signal.aborted) break
    const report = await runMeasured(bench, request, signal)
    if (!report) continue
    reports.push(report)
    if (!request.json) print(report, request.benches.length > 1)
    publish(report, request)
  }
  const objects = reports.map(toJson)
  if (request.json) {
    const output = request.benches.length === 1 ? objects[0] : objects
    process.stdout.write(`${JSON.stringify(output, null, 2)}\n`)
  }
  const isWhole = reports.length === request.benches.length
  return isWhole && reports.every(({ measures }) => measures.every(isMet)) ? 0 : 1
}

/** Undefined, and a message on standard error, when the figures could not be taken. */
async function runMeasured(
  bench: Bench,
  { rounds, sliceMs, small }: RunRequest,
  signal: AbortSignal,
): Promise<Report | undefined> {
  const progress = createProgress(process.stderr)
  const notes: string[] = []
  const onSlice = (text: string) => progress.show(`${bench.name}: ${text}`)
  const note = (text: string) => void notes.push(text)
  try {
    const measures = await bench.run({ rounds, sliceMs, small, signal, onSlice, note })
    return { bench, rounds, sliceMs, measures, notes }
  } catch (error) {
    progress.clear()
    process.stderr.write(`bench ${bench.name}: ${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  } finally {
    progress.clear()
  }
}

function print({ bench, measures, notes }: Report, isOneOfMany: boolean): void {
  const heading = isOneOfMany ? `\n${bench.title}\n\n` : ''
  process.stdout.write(`${heading}${measureTable(measures)}${notes.map((note) => `${note}\n`).join('')}`)
}

function publish(report: Report, { chart, docs }: RunRequest): void {
  if (chart !== undefined) writeChart(report, chart)
  if (!docs) return
  const page = join(DOCS, 'performance.md')
  const figures = toMarkdown(report, new Date().toISOString().slice(0, 10))
  const document = withFigures(readFileSync(page, 'utf8'), report.bench.name, figures)
  if (document === undefined) {
    process.stderr.write(`bench: ${page} has no marks for ${report.bench.name}; it stays as it is\n`)
    return
  }
  writeFileSync(page, document)
  writeChart(report, join(DOCS, 'images'))
}

function writeChart({ bench, measures }: Report, directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, chartName(bench)), chartSvg(bench.title, measures))
}

process.exitCode = await main(process.argv.slice(2))
