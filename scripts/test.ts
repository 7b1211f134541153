// Runs the test files given as arguments (files or directories); without them all of `npm test`, or with `--long` all of
// `npm run test:long`. Options go to Node's test runner. In a run of all files, a few that fail run once more, alone: a
// shared machine can stall a test that starts processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { become } from './become.mjs'

const DIRECTORIES = ['src', 'console', 'test', 'programs', 'clients', 'scripts']

// The name of a file says its tier, so each file is in one of them.
const LONG = '.long.test.ts'

// Most tests wait for a process or a socket, so two files more than there are cores run at once. More than eight would
// need more connections than the PostgreSQL server that they share allows. A long test starts several processes itself.
const CONCURRENCY = {
  short: Math.min(8, availableParallelism() + 2),
  long: Math.min(4, availableParallelism() + 1),
}

// A process takes longer to start than most files of these folders take to run, so several files share one.
const SHARING = ['clients/', 'console/', 'programs/', 'src/']
const FILES_OF_A_PROCESS = 8
// What such a file does to its process, it would do to the others.
const NEEDS_OWN_PROCESS =
  /^(?:before|after)(?:Each)?\(|\bmock\b|globalThis|process\.(?:chdir|emit|env|exit|kill|on|umask)|node:(?:child_process|worker_threads)/m

// More failures than these have one cause, which a second run would only show again.
const FILES_RUN_AGAIN = 3

const FLAGS = [
  '--test',
  '--test-global-setup=test/support/global-setup.ts',
  '--import=./scripts/fast-tests.mjs',
  // A test that hangs fails with its name before CI ends the whole run.
  '--test-timeout=600000',
  // A failed test leaves what it started, which must not hold the run up until CI ends it.
  '--test-force-exit',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=./scripts/fail-without-tests.ts',
  '--test-reporter-destination=stderr',
]

async function main(args: readonly string[]): Promise<void> {
  const tier = args.includes('--long') ? 'long' : 'short'
  const options = args.filter((each) => each.startsWith('-') && each !== '--long')
  const paths = args.filter((each) => !each.startsWith('-'))
  const files = paths.length > 0 ? testFiles(paths) : filesOf(tier)
  // A path that is mistyped, or the value of an option, which needs a "=" before it.
  const unmatched = paths.filter((path) => testFiles([path]).length === 0)
  if (unmatched.length > 0 || files.length === 0) {
    console.error(`test: no test file in ${(unmatched.length > 0 ? unmatched : DIRECTORIES).join(', ')}`)
    process.exitCode = 1
    return
  }
  const concurrent = `--test-concurrency=${CONCURRENCY[tier]}`
  if (paths.length > 0) become(process.execPath, [...FLAGS, concurrent, ...options, ...files])
  else process.exitCode = await runAll([concurrent, ...options], files)
}

/** Resolves with the exit code. */
async function runAll(options: readonly string[], files: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-tests-'))
  try {
    const list = join(directory, 'failed')
    const reporter = ['--test-reporter=./scripts/failed-files.ts', `--test-reporter-destination=${list}`]
    const code = await run([...FLAGS, ...options, ...reporter, ...sharedProcesses(directory, files)])
    const failed = readFileSync(list, 'utf8').split('\n').filter(Boolean)
    return code === 1 && failed.length > 0 && failed.length <= FILES_RUN_AGAIN
      ? await runAgain(options, failed)
      : code
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The files to run: those that share a process are replaced by one that imports them. */
function sharedProcesses(directory: string, files: readonly string[]): string[] {
  const isShared = (file: string) =>
    SHARING.some((folder) => file.startsWith(folder)) && !NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8'))
  const { true: shared = [], false: alone = [] } = Object.groupBy(files, (file) => `${isShared(file)}`)
  const starts = shared.keys().filter((index) => index % FILES_OF_A_PROCESS === 0)
  const groups = [...starts].map((start) => {
    const group = shared.slice(start, start + FILES_OF_A_PROCESS)
    const path = join(directory, `${start}.test.mjs`)
    writeFileSync(path, group.map((file) => `import '${pathToFileURL(file).href}'\n`).join(''))
    return path
  })
  return [...groups, ...alone]
}

async function runAgain(options: readonly string[], files: readonly string[]): Promise<number> {
  const names = files.map((file) => relative(process.cwd(), file)).join(', ')
  console.error(`test: running alone what failed: ${names}`)
  const code = await run([...FLAGS, ...options, '--test-concurrency=1', ...files])
  if (code === 0) console.error(`test: passed alone, and is unstable beside other tests: ${names}`)
  return code
}

/** Resolves with the exit code; after a signal with that of the signal, because the test runner of Node.js ends with 1. */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  let interruptedBy: NodeJS.Signals | undefined
  const forward = (signal: NodeJS.Signals) => {
    interruptedBy = signal
    child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  if (code !== null && interruptedBy === undefined) return code
  return 128 + constants.signals[interruptedBy ?? signal ?? 'SIGTERM']
}

function filesOf(tier: keyof typeof CONCURRENCY): string[] {
  return testFiles(DIRECTORIES).filter((file) => file.endsWith(LONG) === (tier === 'long'))
}

function testFiles(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    isDirectory(path) ? globSync(`${path}/**/*.test.ts`).sort() : globSync(path),
  )
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

await main(process.argv.slice(2))
