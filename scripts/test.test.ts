import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { eventually } from '../test/support/eventually.ts'

const PASSING = "import { test } from 'node:test'\ntest('passes', () => {})"
const FAILING = "import { test } from 'node:test'\ntest('fails', () => { throw new Error('always') })"
const UNSTABLE = `
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('fails once', () => {
  if (existsSync('ran')) return
  writeFileSync('ran', '')
  throw new Error('once')
})`
const ENDLESS = `
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('does not end', () => {
  writeFileSync('started', '')
  return new Promise((resolve) => setTimeout(resolve, 600_000))
})`

type Tests = Readonly<Record<string, string>>

/** A directory that has scripts/test.ts and these test files. */
function directoryOf(t: TestContext, tests: Tests): string {
  const directory = mkdtempSync(join(tmpdir(), 'platform-test-runner-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, 'test/support'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(directory, 'test/support/global-setup.ts'), '')
  cpSync(import.meta.dirname, join(directory, 'scripts'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  })
  for (const [name, text] of Object.entries(tests)) writeFileSync(join(directory, 'test', name), text)
  return directory
}

/** Without what makes a runner believe that it is one of the files of the run that it is a test of. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}

function runTests(t: TestContext, tests: Tests, args: readonly string[] = []) {
  const directory = directoryOf(t, tests)
  const options = { cwd: directory, env: ownEnvironment(), encoding: 'utf8' } as const
  const result = spawnSync(process.execPath, ['scripts/test.ts', ...args], options)
  return { ...result, ranAgain: result.stderr.includes('running alone'), directory }
}

test('a run in which every test passes is not repeated', (t) => {
  const { status, ranAgain } = runTests(t, { 'a.test.ts': PASSING })
  assert.deepEqual([status, ranAgain], [0, false])
})

test('a file that passes alone is reported as unstable', (t) => {
  const { status, stderr } = runTests(t, { 'a.test.ts': PASSING, 'b.test.ts': UNSTABLE })
  assert.equal(status, 0)
  assert.match(stderr, /passed alone, and is unstable beside other tests: test\/b\.test\.ts/)
})

test('a file that fails alone too fails the run', (t) => {
  const { status, stdout, ranAgain } = runTests(t, { 'a.test.ts': FAILING, 'b.test.ts': UNSTABLE })
  assert.deepEqual([status, ranAgain], [1, true])
  assert.match(stdout, /always/)
})

test('of a test that a helper defines, the test file is run again', (t) => {
  const helper = UNSTABLE.replace("test('fails once'", "export const define = () => test('fails once'")
  const file = "import { define } from './support/helper.ts'\ndefine()"
  const { status, stderr } = runTests(t, { 'support/helper.ts': helper, 'a.test.ts': file })
  assert.equal(status, 0, stderr)
  assert.match(stderr, /running alone what failed: test\/a\.test\.ts/)
})

test('many failures are not run again', (t) => {
  const files = ['a', 'b', 'c', 'd'].map((name) => [`${name}.test.ts`, FAILING])
  const { status, ranAgain } = runTests(t, Object.fromEntries(files))
  assert.deepEqual([status, ranAgain], [1, false])
})

test('a run of named files is not repeated', (t) => {
  const { status, ranAgain, directory } = runTests(t, { 'b.test.ts': UNSTABLE }, ['test/b.test.ts'])
  assert.deepEqual([status, ranAgain], [1, false])
  assert.ok(existsSync(join(directory, 'ran')))
})

test('a run without a test fails', (t) => {
  assert.equal(runTests(t, { 'a.test.ts': '' }).status, 1)
  assert.equal(runTests(t, {}).status, 1)
})

test('each file is in one tier, by its name; of paths that are named both run', (t) => {
  const tests = { 'a.test.ts': PASSING, 'b.long.test.ts': FAILING.replaceAll('fail', 'long') }
  const ran = (args: readonly string[]) => {
    const { stdout } = runTests(t, tests, args)
    return [/✔ passes/.test(stdout), /✖ longs/.test(stdout)]
  }
  assert.deepEqual(
    [ran([]), ran(['--long']), ran(['test'])],
    [
      [true, false],
      [false, true],
      [true, true],
    ],
  )
})

test('the second run has the options of the first', (t) => {
  const file = `${UNSTABLE}\ntest('fails', () => { throw new Error('always') })`
  const { status, stdout, ranAgain } = runTests(t, { 'a.test.ts': file }, ['--test-name-pattern=once'])
  assert.deepEqual([status, ranAgain], [0, true], stdout)
})

test('a path without a test file is refused, also beside one that has some', (t) => {
  const { status, stderr, directory } = runTests(t, { 'a.test.ts': UNSTABLE }, [
    'test/a.test.ts',
    'test/no.test.ts',
  ])
  assert.deepEqual([status, stderr], [1, 'test: no test file in test/no.test.ts\n'])
  assert.equal(existsSync(join(directory, 'ran')), false)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends the run, and what failed before it is not run again`, async (t) => {
    const directory = directoryOf(t, { 'a.test.ts': FAILING, 'b.test.ts': ENDLESS })
    const runner = spawn(process.execPath, ['scripts/test.ts'], { cwd: directory, env: ownEnvironment() })
    let output = ''
    for (const stream of [runner.stdout, runner.stderr])
      stream.on('data', (chunk) => (output += String(chunk)))
    const closed = once(runner, 'close')
    await eventually('a failure', () => output.includes('fails') && existsSync(join(directory, 'started')))
    runner.kill(signal)
    assert.deepEqual(await closed, [128 + constants.signals[signal], null], output)
    assert.doesNotMatch(output, /running alone/)
  })
}
