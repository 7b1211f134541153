// Runs every static check and prints one line for each. The output of a check is shown only if it failed.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

interface Check {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

interface Outcome {
  readonly passed: boolean
  readonly seconds: number
  readonly output: string
}

// Started in this order: the slowest first.
const CHECKS: readonly Check[] = [
  { name: 'linter', command: ['node_modules/.bin/oxlint'] },
  { name: 'type check', command: ['node_modules/.bin/tsc', '-p', '.'] },
  { name: 'type check, browser', command: ['node_modules/.bin/tsc', '-p', 'console'] },
  { name: 'unused code', command: ['node_modules/.bin/knip', '--no-progress', '--no-config-hints'] },
  { name: 'layers', command: [process.execPath, 'scripts/check-layers.ts'] },
  { name: 'names', command: [process.execPath, 'scripts/check-names.ts'] },
  { name: 'formatter', command: ['node_modules/.bin/oxfmt', '--check'] },
  {
    name: 'OpenAPI document',
    command: [process.execPath, 'node_modules/.bin/redocly', 'lint', 'docs/reference/openapi.json'],
  },
  { name: 'generated docs', command: [process.execPath, 'scripts/docs.ts', '--check'] },
]

const CONCURRENCY = 2

async function runAll(checks: readonly Check[]): Promise<boolean> {
  const waiting = checks[Symbol.iterator]()
  const results: boolean[] = []
  const worker = async () => {
    // The workers share one iterator, so that each check runs once.
    for (const check of waiting) results.push(report(check, await run(check)))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return results.every(Boolean)
}

async function run({ command: [program, ...args] }: Check): Promise<Outcome> {
  const startedAt = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<string | number | null>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const [end, output, errors] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
  const note = typeof end === 'string' ? `${end}\n` : ''
  return {
    passed: end === 0,
    seconds: (performance.now() - startedAt) / 1_000,
    output: output + errors + note,
  }
}

function report({ name }: Check, { passed, seconds, output }: Outcome): boolean {
  const width = Math.max(...CHECKS.map((check) => check.name.length))
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(width)} ${seconds.toFixed(1).padStart(6)} s`)
  if (!passed) console.log(`\n${output.trim()}\n`)
  return passed
}

if (!(await runAll(CHECKS))) process.exitCode = 1
