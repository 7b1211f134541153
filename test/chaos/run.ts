// `npm run chaos` lists the scenarios, `npm run chaos -- NAME` runs one, `all` runs every one. Exit code: 0 when every
// promise was kept, 1 when one was broken, 2 for wrong usage. Measured figures: docs/reliability.md.
import { setMaxListeners } from 'node:events'
import { createProgress } from '../../bench/support/progress.ts'
import { alignColumns } from '../../src/kernel/text.ts'
import { SCENARIOS } from './scenarios.ts'
import { parseRequest, USAGE, type Request } from './support/command-line.ts'
import { figuresText } from './support/scenario.ts'
import { tryScenario, type Outcome } from './support/trials.ts'

async function main(args: readonly string[]): Promise<number> {
  const request = parseRequest(args, SCENARIOS)
  if (request.kind === 'run') return run(request)
  if (request.kind === 'list') return list()
  process.stderr.write(`chaos: ${request.message}\n`)
  return 2
}

function list(): number {
  const rows = SCENARIOS.map(({ name, row, rounds, unit, promise }) => [
    name,
    row,
    `${rounds.full}`,
    unit,
    promise,
  ])
  const table = alignColumns([['NAME', 'ROW', 'ROUNDS', 'OF', 'PROMISE'], ...rows])
  process.stdout.write(`${USAGE}\n\n${table}`)
  return 0
}

async function run({
  scenarios,
  rounds,
  isBrief,
  seed,
  json,
}: Extract<Request, { kind: 'run' }>): Promise<number> {
  // Each started process adds a listener for the exit of this one.
  setMaxListeners(0, process)
  const progress = createProgress(process.stderr)
  const interrupted = new AbortController()
  // The started processes are stopped before this one ends.
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')))
  const options = { rounds, isBrief, seed, signal: interrupted.signal, show: progress.show }
  const outcomes: Outcome[] = []
  try {
    for (const scenario of scenarios) {
      for await (const outcome of tryScenario(scenario, options)) {
        outcomes.push(outcome)
        progress.clear()
        process.stderr.write(lineOf(outcome))
      }
    }
  } catch (error) {
    progress.clear()
    // Print the earlier outcomes too, since they may have taken hours.
    if (outcomes.length > 0) process.stdout.write(textOf(outcomes, seed))
    process.stderr.write(`chaos: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
  progress.clear()
  process.stdout.write(json ? `${JSON.stringify({ seed, outcomes }, null, 2)}\n` : textOf(outcomes, seed))
  return outcomes.some(({ result }) => result === 'broken') ? 1 : 0
}

/** The result of one part, as soon as it is known: a run of all takes long. */
function lineOf({ scenario, part, result, seconds }: Outcome): string {
  return `${scenario}, ${part}: ${result}, ${seconds.toFixed(1)} s\n`
}

function textOf(outcomes: readonly Outcome[], seed: number): string {
  const rows = outcomes.map(({ scenario, row, part, result, seconds, figures }) => [
    scenario,
    row,
    part,
    result,
    `${seconds.toFixed(1)} s`,
    figuresText(figures),
  ])
  const table = alignColumns([['SCENARIO', 'ROW', 'PART', 'PROMISE', 'TOOK', 'FIGURES'], ...rows])
  const reasons = outcomes.flatMap(({ scenario, part, reason }) =>
    reason ? [`\n${scenario}, ${part}:\n${reason}\n`] : [],
  )
  return `${table}${reasons.join('')}\nto repeat this run: --seed ${seed}\n`
}

process.exitCode = await main(process.argv.slice(2))
