import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { countProcesses } from '../support/stubborn-program.ts'
import { openEngine, type Engine, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const EXECUTIONS_EACH_ROUND = 4
const MAX_RUN_MS = 1_500
// docs/specification.md, Commands
const INCOMPLETE_WITHIN_MS = 30_000
const PATIENCE = { timeoutMs: 120_000 }

export const commandKills: Scenario = {
  name: 'command-kills',
  row: 'R-31',
  promise: 'kill -9 of a worker runs no command twice, leaves none unfinished and no process behind',
  unit: 'kills of the worker',
  rounds: { short: 6, brief: 50, full: 200 },
  parts: [
    { title: 'on SQLite', share: 0.5, run: (trial) => killWorkers(trial, 'sqlite') },
    { title: 'on PostgreSQL', share: 0.5, run: (trial) => killWorkers(trial, 'postgres') },
  ],
  unsupported: () => (process.platform === 'linux' ? undefined : 'processes are found by proc(5)'),
}

/** Each run appends its id to a file. Every second one leaves the session, and ignores SIGTERM. */
function writeConfiguration(dataDir: string, runs: string): void {
  const append = `echo $PLATFORM_EXECUTION_ID >> ${runs}`
  const commands = {
    plain: `${append}; sleep 0.$1`,
    hidden: `trap "" TERM; ${append}; (setsid sh -c 'sleep 30 # ${runs}' &); sleep 0.$1`,
  }
  const tables = Object.entries(commands).map(
    ([id, script]) => `[commands.${id}]\nrun = ["sh", "-c", ${JSON.stringify(script)}, "sh", "{tenths}"]
max_concurrent = 8\nparams.tenths = { type = "integer" }\n`,
  )
  writeFileSync(join(dataDir, 'platform.toml'), tables.join('\n'))
}

async function killWorkers(trial: Trial, engineName: EngineName): Promise<Figures> {
  const { rounds, wantsMore, scope, signal, show, chance } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const runs = join(dataDir, 'runs')
  writeConfiguration(dataDir, runs)
  const engine = await openEngine(engineName, dataDir, scope)
  const serve = async (modules: string) =>
    scope.use(await servePlatform({ dataDir, modules, env: engine.env }))
  const api = await serve('api')
  const killedAt: number[] = []
  for (let round = 0; wantsMore(round); round++) {
    signal.throwIfAborted()
    show(`kill ${round + 1} of ${rounds}`)
    const worker = await serve('worker')
    for (let each = 0; each < EXECUTIONS_EACH_ROUND; each++)
      await request(api, chance.pick(['plain', 'hidden']), chance.between(1, 9))
    await pause(chance.between(0, MAX_RUN_MS))
    await worker.kill()
    killedAt.push(Date.now())
  }
  await serve('worker')
  return requireOutcome(trial, engine, runs, killedAt)
}

async function request(api: ServedPlatform, command: string, tenths: number): Promise<void> {
  const response = await api.call('POST', `/commands/${command}/execute`, { body: { params: { tenths } } })
  assert.equal(response.status, 202, await response.text())
}

async function requireOutcome(
  { requireTime }: Trial,
  engine: Engine,
  runs: string,
  killedAt: readonly number[],
): Promise<Figures> {
  const unfinished = () =>
    engine.count(`select count(*) from command_executions where status in ('queued', 'running')`)
  await eventually('every execution to finish', async () => (await unfinished()) === 0, PATIENCE)
  const rows = await engine.rows('select id, status, started_at, finished_at from command_executions')
  const ids = existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n') : []
  assert.equal(new Set(ids).size, ids.length, 'no execution runs twice')
  const incomplete = rows.filter(({ status }) => status === 'incomplete')
  const succeeded = rows.filter(({ status }) => status === 'succeeded')
  assert.equal(incomplete.length + succeeded.length, rows.length)
  for (const { id } of succeeded) assert.ok(ids.includes(String(id)), 'what succeeded has run')
  const alerts = await engine.count(`select count(*) from alerts where source = 'platform.commands'`)
  assert.equal(alerts, incomplete.length, 'each incomplete execution has its alert')
  await eventually('no process to be left', () => countProcesses(runs) === 0, PATIENCE)
  const delays = incomplete.map(({ started_at, finished_at }) => {
    const kill = killedAt.find((at) => at >= Number(started_at)) ?? Number(started_at)
    return Number(finished_at) - kill
  })
  const slowest = Math.max(0, ...delays)
  requireTime('an execution is incomplete', slowest, INCOMPLETE_WITHIN_MS)
  return {
    kills: killedAt.length,
    executions: rows.length,
    incomplete: incomplete.length,
    'run twice': 0,
    'slowest until incomplete ms': slowest,
  }
}
