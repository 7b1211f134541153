import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCanaries } from '../security/canaries.ts'
import { eventually } from '../support/eventually.ts'
import { openEventStream } from '../support/event-stream.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { countProcesses, stubbornScript } from '../support/stubborn-program.ts'

const SLOW = { timeoutMs: 120_000 }

interface Shown {
  readonly id: string
  readonly status: string
  readonly output: string
  readonly host: string | null
  readonly params: Readonly<Record<string, unknown>>
}

async function request(api: ServedPlatform, command: string, params: object = {}): Promise<Shown> {
  const response = await api.call('POST', `/commands/${command}/execute`, { body: { params } })
  assert.equal(response.status, 202)
  return (await response.json()) as Shown
}

async function read(api: ServedPlatform, id: string): Promise<Shown> {
  return (await (await api.call('GET', `/commands/executions/${id}`)).json()) as Shown
}

function becomes(api: ServedPlatform, id: string, status: string): Promise<Shown> {
  return eventually(
    `the execution is ${status}`,
    async () => {
      const execution = await read(api, id)
      return execution.status === status ? execution : undefined
    },
    SLOW,
  )
}

/** A directory with the configuration of these commands, each with its program. */
function configured(scope: AsyncDisposableStack, commands: Readonly<Record<string, string>>): string {
  const { path } = scope.use(temporaryDirectory())
  const tables = Object.entries(commands).map(([id, lines]) => `[commands.${id}]\n${lines}\n`)
  writeFileSync(join(path, 'platform.toml'), tables.join('\n'))
  return path
}

const shell = (script: string) => `run = ["sh", "-c", ${JSON.stringify(script)}]`

test('the api starts no process; the worker runs the command, and its output is followed from the api', async (t) => {
  const scope = scopeOf(t)
  const script = 'for i in 1 2 3; do echo line $i; sleep 0.5; done'
  const dataDir = configured(scope, { lines: shell(script) })
  const trace = join(dataDir, 'trace')
  const wrapper = [
    'strace',
    '-D',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'trace=execve,execveat,fork,vfork',
    '-o',
    trace,
  ]
  const api = scope.use(await servePlatform({ dataDir, modules: 'api', wrapper }))
  const { id } = await request(api, 'lines')
  const stream = scope.use(await openEventStream(api.url, `/commands/executions/${id}/output`))
  assert.equal(stream.headers['content-type'], 'text/event-stream')
  scope.use(await servePlatform({ dataDir, modules: 'worker' }))
  await stream.ended
  const text = stream.events
    .filter(({ event }) => event === 'output')
    .map(({ data }) => (JSON.parse(data) as { text: string }).text)
  assert.equal(text.join(''), 'line 1\nline 2\nline 3\n')
  assert.deepEqual(stream.events.at(-1)?.event, 'end')
  assert.deepEqual(JSON.parse(stream.events.at(-1)?.data ?? ''), {
    status: 'succeeded',
    exit_code: 0,
    signal: null,
  })
  assert.equal((await becomes(api, id, 'succeeded')).output, 'line 1\nline 2\nline 3\n')
  await api.kill()
  const calls = readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => /exec|fork/.test(line))
  assert.equal(calls.length, 1, calls.join('\n'))
})

test('a secret reaches the program, and is in no argument, log, output, event or row', async (t) => {
  const scope = scopeOf(t)
  const canaries = createCanaries()
  const secret = canaries.plant('a secret parameter')
  const script = 'printf %s "$PARAM_KEY" | wc -c; printf "%s" "$PARAM_KEY"; echo "$PARAM_KEY" >&2; sleep 2'
  const dataDir = configured(scope, {
    login: `${shell(script)}\nparams.key = { type = "string", secret = true }`,
  })
  const platform = scope.use(
    await servePlatform({ dataDir, modules: 'api,worker', env: { LOG_LEVEL: 'debug' } }),
  )
  const key = { key: secret }
  const wrong = await platform.call('POST', '/commands/login/execute', {
    body: { params: { ...key, other: 1 } },
  })
  assert.equal(wrong.status, 400)
  canaries.assertNone(await wrong.text(), 'the answer to a wrong request')
  const answer = await platform.call('POST', '/commands/login/execute', {
    body: { params: key },
    headers: { 'idempotency-key': 'once' },
  })
  const text = await answer.text()
  canaries.assertNone(text, 'the answer')
  const { id } = JSON.parse(text) as Shown
  await becomes(platform, id, 'running')
  assert.equal(countProcesses(secret), 0, 'arguments of processes')
  const { output, params } = await becomes(platform, id, 'succeeded')
  assert.deepEqual(params, { key: '**redacted**' })
  assert.match(output, new RegExp(`^${secret.length}\\n`))
  assert.equal(output.split('**redacted**').length, 3)
  for (const path of ['/commands/executions', '/messages', '/metrics', `/commands/executions/${id}/output`])
    canaries.assertNone(await (await platform.call('GET', path)).text(), path)
  canaries.assertNone(JSON.stringify(platform.logs()), 'the log')
  canaries.assertNone(platform.stderr(), 'standard error')
  await platform.stop()
  for (const file of globSync(join(dataDir, 'platform.db*')))
    canaries.assertNone(readFileSync(file, 'latin1'), file)
})

test('after the kill of its worker a stubborn program has no survivor, is incomplete, and does not run again', async (t) => {
  const scope = scopeOf(t)
  const mark = randomUUID()
  const dataDir = configured(scope, { bomb: shell(stubbornScript(500, mark)) })
  const api = scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const first = scope.use(await servePlatform({ dataDir, modules: 'worker' }))
  const { id } = await request(api, 'bomb')
  await eventually('500 processes', () => countProcesses(mark) >= 500, SLOW)
  await first.kill()
  await eventually('no survivor', () => countProcesses(mark) === 0, SLOW)
  // The api records it, without a worker.
  await becomes(api, id, 'incomplete')
  const alerts = await (await api.call('GET', '/alerts?source=platform.commands')).text()
  assert.match(alerts, new RegExp(`command\\.incomplete:${id}`))
  scope.use(await servePlatform({ dataDir, modules: 'worker' }))
  const next = await request(api, 'orders.expire-due')
  await becomes(api, next.id, 'succeeded')
  assert.equal((await read(api, id)).status, 'incomplete')
  assert.equal(countProcesses(mark), 0)
})

test('a cancellation and an orderly stop of the worker leave no process behind', async (t) => {
  const scope = scopeOf(t)
  const mark = randomUUID()
  const dataDir = configured(scope, { bomb: shell(stubbornScript(20, mark)) })
  const api = scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const worker = scope.use(await servePlatform({ dataDir, modules: 'worker' }))
  const cancelled = await request(api, 'bomb')
  await eventually('the program runs', () => countProcesses(mark) >= 20, SLOW)
  assert.equal((await api.call('POST', `/commands/executions/${cancelled.id}/cancel`)).status, 200)
  await becomes(api, cancelled.id, 'cancelled')
  assert.equal(countProcesses(mark), 0)
  const stopped = await request(api, 'bomb')
  await eventually('the program runs again', () => countProcesses(mark) >= 20, SLOW)
  assert.equal(await worker.stop(), 0)
  assert.equal(countProcesses(mark), 0)
  assert.match((await becomes(api, stopped.id, 'incomplete')).output, /its worker was stopped/)
})
