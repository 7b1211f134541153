// `npm run bench` lists the benchmarks, `npm run bench -- NAME` runs one: exit code 0 when every figure reaches what it
// must, 1 when one does not or cannot be taken, 2 for wrong usage. What they measure and why: docs/performance.md.
import { cpus } from 'node:os'
import { alignColumns } from '../src/kernel/table.ts'
import { mockOidc } from './mock-oidc.ts'
import { orders } from './orders.ts'
import type { Bench } from './support/bench.ts'
import { parseRequest, type Request } from './support/command-line.ts'
import { isMet, measureTable, type Measure } from './support/measure.ts'
import { createProgress } from './support/progress.ts'
import { ticketNotify } from './ticket-notify.ts'

const BENCHES: readonly Bench[] = [orders, mockOidc, ticketNotify]

async function main(args: readonly string[]): Promise<number> {
  const request = parseRequest(args, BENCHES)
  if (request.kind === 'run') return run(request)
  if (request.kind === 'list') return list()
  process.stderr.write(`bench: ${request.message}\n`)
  return 2
}

function list(): number {
  const rows = BENCHES.map(({ name, summary }) => [name, summary])
  const usage = 'npm run bench -- NAME [--rounds 12] [--slice 1500ms] [--json]'
  process.stdout.write(`${usage}\n\n${alignColumns([['NAME', 'what is measured'], ...rows])}`)
  return 0
}

async function run({ bench, rounds, sliceMs, json }: Extract<Request, { kind: 'run' }>): Promise<number> {
  const progress = createProgress(process.stderr)
  const interrupted = new AbortController()
  // What was started is stopped before the process ends.
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')))
  try {
    const options = { rounds, sliceMs, signal: interrupted.signal, onSlice: progress.show }
    const measures = await bench.run(options)
    progress.clear()
    process.stdout.write(json ? asJson(bench, rounds, sliceMs, measures) : measureTable(measures))
    return measures.every(isMet) ? 0 : 1
  } catch (error) {
    progress.clear()
    process.stderr.write(`bench ${bench.name}: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

function asJson({ name }: Bench, rounds: number, sliceMs: number, measures: readonly Measure[]): string {
  const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model ?? 'unknown' }
  const judged = measures.map((measure) => ({ ...measure, met: isMet(measure) }))
  return `${JSON.stringify({ bench: name, rounds, sliceMs, machine, measures: judged }, null, 2)}\n`
}

process.exitCode = await main(process.argv.slice(2))
