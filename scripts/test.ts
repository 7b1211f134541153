// Runs the test files that the arguments name (files, folders; options go to Node's test runner), by default all.
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { become } from './become.mjs'

const ROOMS = ['src', 'console', 'test', 'programs', 'scripts']

// Most tests wait for a process or a socket, so two at once pay off even on one core; more than eight would outgrow
// the connections of the one PostgreSQL server they share.
const concurrency = Math.min(8, Math.max(2, availableParallelism()))

const FLAGS = [
  '--test',
  `--test-concurrency=${concurrency}`,
  '--test-global-setup=test/support/global-setup.ts',
  // A test that hangs fails here with its name, not in CI without one.
  '--test-timeout=180000',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/fail-without-tests.ts',
  '--test-reporter-destination=stderr',
]

function main(args: readonly string[]): void {
  const options = args.filter((each) => each.startsWith('-'))
  const paths = args.filter((each) => !each.startsWith('-'))
  const files = testFiles(paths.length > 0 ? paths : ROOMS)
  if (files.length === 0) {
    console.error(`test: there is no test file in ${(paths.length > 0 ? paths : ROOMS).join(', ')}`)
    process.exitCode = 1
    return
  }
  become(process.execPath, [...FLAGS, ...options, ...files])
}

function testFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) => (isFolder(path) ? globSync(`${path}/**/*.test.ts`).sort() : globSync(path)))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

main(process.argv.slice(2))
