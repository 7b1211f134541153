// Runs the test files given as arguments (files or directories), by default all. Options go to Node's test runner.
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { become } from './become.mjs'

const DIRECTORIES = ['src', 'console', 'test', 'programs', 'scripts']

// Most tests wait for a process or a socket, so two at once are faster even on one core. More than eight would need
// more connections than the PostgreSQL server that they share allows.
const concurrency = Math.min(8, Math.max(2, availableParallelism()))

const FLAGS = [
  '--test',
  `--test-concurrency=${concurrency}`,
  '--test-global-setup=test/support/global-setup.ts',
  // A test that hangs fails with its name before CI ends the whole run.
  '--test-timeout=180000',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/fail-without-tests.ts',
  '--test-reporter-destination=stderr',
]

function main(args: readonly string[]): void {
  const options = args.filter((each) => each.startsWith('-'))
  const paths = args.filter((each) => !each.startsWith('-'))
  const files = testFiles(paths.length > 0 ? paths : DIRECTORIES)
  if (files.length === 0) {
    console.error(`test: no test file in ${(paths.length > 0 ? paths : DIRECTORIES).join(', ')}`)
    process.exitCode = 1
    return
  }
  become(process.execPath, [...FLAGS, ...options, ...files])
}

function testFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    isDirectory(path) ? globSync(`${path}/**/*.test.ts`).sort() : globSync(path),
  )
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

main(process.argv.slice(2))
