import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { countProcesses, stubbornScript } from '../../../test/support/stubborn-program.ts'
import type { Program, ProgramEnd } from '../../ports/programs.ts'
import { NAMESPACE_OPTIONS } from './pid-namespace.ts'
import { membersOf, HostPrograms } from './programs.ts'

const PATH = process.env['PATH'] ?? ''
const SLOW = { timeoutMs: 120_000 }

/** A running program, and what it has written so far. */
function begin(programs: HostPrograms, run: readonly string[], environment: Record<string, string> = {}) {
  const terminate = new AbortController()
  const kill = new AbortController()
  const executionId = randomUUID()
  let output = ''
  const program: Program = {
    executionId,
    run,
    environment: { PATH, ...environment },
    onOutput: (_stream, bytes) => (output += Buffer.from(bytes).toString()),
    terminate: terminate.signal,
    kill: kill.signal,
  }
  const end: Promise<ProgramEnd> = programs.run(program)
  return {
    executionId,
    end,
    output: () => output,
    terminate: () => terminate.abort(),
    kill: () => kill.abort(),
    started: () => eventually('the program has started', () => output.includes('started'), SLOW),
  }
}

const CONTAINMENTS = [
  ['pid_namespace', new HostPrograms({ path: PATH })],
  ['process_scan', new HostPrograms({ path: PATH, namespaces: [] })],
] as const

const namespace = await CONTAINMENTS[0][1].containment()

for (const [containment, programs] of CONTAINMENTS) {
  const skip =
    containment === 'pid_namespace' && namespace !== containment && 'this host allows no namespaces'

  describe(`a program with the containment ${containment}`, { skip }, () => {
    test('gets its arguments as they are, and only the given environment', async () => {
      const text = '; $(id) `id` -- \n "{x}" \\ *'
      const script = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))'
      const run = begin(programs, [process.execPath, '-e', script, '--', text, '--help'], { PARAM_KEY: 'k' })
      assert.deepEqual(await run.end, { exitCode: 0, signal: null })
      const [argv, environment] = JSON.parse(run.output()) as [string[], Record<string, string>]
      assert.deepEqual(argv, [text, '--help'])
      assert.deepEqual(environment, { PATH, PARAM_KEY: 'k', PLATFORM_EXECUTION_ID: run.executionId })
    })

    test('reports its exit code, or the signal that has ended it', async () => {
      const outcomes = await Promise.all([
        begin(programs, ['sh', '-c', 'exit 3']).end,
        begin(programs, ['sh', '-c', 'exit 143']).end,
        begin(programs, ['sh', '-c', 'kill -KILL $$']).end,
      ])
      assert.deepEqual(outcomes, [
        { exitCode: 3, signal: null },
        { exitCode: 143, signal: null },
        { exitCode: null, signal: 'SIGKILL' },
      ])
    })

    test('that does not exist is reported as exit code 127 with a reason', async () => {
      const run = begin(programs, ['/no/such/program'])
      assert.deepEqual(await run.end, { exitCode: 127, signal: null })
      assert.match(run.output(), /\/no\/such\/program/)
    })

    test('ends after SIGTERM, and its children with it', async () => {
      const mark = randomUUID()
      const run = begin(programs, ['sh', '-c', `sleep 1000 & echo started; wait # ${mark}`])
      await run.started()
      run.terminate()
      assert.deepEqual(await run.end, { exitCode: null, signal: 'SIGTERM' })
      assert.equal(countProcesses(mark), 0)
    })

    test('may end after its children, which finish their work after SIGTERM', async () => {
      const child = `trap "echo saved; exit" TERM; echo started; while :; do sleep 0.1; done`
      const run = begin(programs, ['sh', '-c', `sh -c '${child}' & trap "exit 4" TERM; wait`])
      await run.started()
      run.terminate()
      assert.deepEqual(await run.end, { exitCode: 4, signal: null })
      assert.match(run.output(), /saved/)
    })

    test('leaves no process behind when it ends, and none keeps its output open', async () => {
      const mark = randomUUID()
      const run = begin(programs, ['sh', '-c', `(setsid sh -c 'sleep 1000 # ${mark}' &); echo done`])
      assert.deepEqual(await run.end, { exitCode: 0, signal: null })
      assert.equal(run.output(), 'done\n')
      assert.equal(countProcesses(mark), 0)
    })

    test('with 500 children that fork twice, leave the session and ignore signals has no survivor', async () => {
      const mark = randomUUID()
      const run = begin(programs, ['sh', '-c', stubbornScript(500, mark)])
      await run.started()
      await eventually('500 processes', () => countProcesses(mark) >= 500, SLOW)
      run.terminate()
      run.kill()
      assert.deepEqual(await run.end, { exitCode: null, signal: 'SIGKILL' })
      assert.equal(countProcesses(mark), 0)
    })
  })
}

test('processes of an execution are found by their environment, and killed', async () => {
  const programs = new HostPrograms({ path: PATH, namespaces: [] })
  const mark = randomUUID()
  const run = begin(programs, ['sh', '-c', `echo started; while :; do sleep 1; done # ${mark}`])
  await run.started()
  assert.ok(programs.executionsWithProcesses().includes(run.executionId))
  await programs.killProcessesOf(run.executionId)
  assert.deepEqual(await run.end, { exitCode: null, signal: 'SIGKILL' })
  assert.ok(!programs.executionsWithProcesses().includes(run.executionId))
  assert.equal(countProcesses(mark), 0)
})

test('a host that refuses every namespace falls back to a search', async () => {
  const refused = NAMESPACE_OPTIONS.map((options) => ({ ...options, create: ['--no-such-option'] }))
  const programs = new HostPrograms({ path: PATH, namespaces: refused })
  assert.equal(await programs.containment(), 'process_scan')
  assert.equal(await new HostPrograms({ path: '/no/such/directory' }).containment(), 'process_scan')
})

test('the members of an execution are found by mark, parent, group and session; the worker is none', () => {
  const entry = (pid: number, parent: number, group = pid, session = pid, executionId?: string) => {
    return { pid, parent, group, session, executionId }
  }
  const table = [
    entry(10, 1, 10, 10, 'a'),
    entry(11, 10),
    entry(12, 1, 11),
    entry(13, 1, 13, 11),
    entry(14, 1, 14, 14, 'b'),
    entry(process.pid, 11, 1, 1, 'a'),
    entry(16, 1, 20, 20),
  ]
  assert.deepEqual(
    membersOf(table, 'a').sort((a, b) => a - b),
    [10, 11, 12, 13],
  )
  assert.deepEqual(membersOf(table, 'none', new Set([16])), [16])
})
