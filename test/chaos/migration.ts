import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { runPlatform, temporaryDirectory } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { copyOf, openEngine, requireIntegrity, type Engine, type EngineName } from './support/engine.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

/** System calls that change the disk; the process is killed at each of them. */
const CALLS = ['pwrite64', 'fsync'] as const
const SUCCESSOR = '9999-of-a-later-release'

export const migration: Scenario = {
  name: 'migration',
  row: 'R-26',
  promise:
    'a migration that is killed at any step is applied as a whole or not at all, and the next start completes it',
  unit: 'kills, at most one for each step',
  rounds: { short: 6, brief: 110, full: 450 },
  parts: [
    { title: 'killed at a write to the SQLite file', share: 0.5, run: killedAtWrites },
    { title: 'cut off at a statement to PostgreSQL', share: 0.5, run: cutOffAtStatements },
    { title: 'a database of a later release is refused', run: refuseSuccessor },
  ],
}

async function killedAtWrites({ rounds, chance, signal, show }: Trial): Promise<Figures> {
  const moments = pickSome(await writesOfMigration(), rounds, chance)
  let undone = 0
  for (const [index, { call, number }] of moments.entries()) {
    signal.throwIfAborted()
    show(`death ${index + 1} of ${moments.length}`)
    await using scope = new AsyncDisposableStack()
    const dataDir = scope.use(temporaryDirectory()).path
    const engine = await openEngine('sqlite', dataDir, scope)
    const kill = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${number}`]
    const wrapper = [...straceOf(dataDir), '-o', '/dev/null', ...kill]
    const { code } = await runPlatform(['db', 'migrate'], { dataDir, wrapper })
    assert.notEqual(code, 0, `it was not killed at ${call} ${number}`)
    requireIntegrity(dataDir, `${call} ${number}`)
    if (!isWholeFile(dataDir)) undone++
    await requireForward(engine, dataDir)
  }
  return {
    deaths: moments.length,
    applied: moments.length - undone,
    'not applied': undone,
    'partly applied': 0,
  }
}

/** Every write of a migration, as recorded: their number depends on the engine. */
async function writesOfMigration(): Promise<{ call: string; number: number }[]> {
  using directory = temporaryDirectory()
  const recording = join(directory.path, 'recording')
  const wrapper = [...straceOf(directory.path), '-o', recording, '-e', `trace=${CALLS.join(',')}`]
  const { code, stderr } = await runPlatform(['db', 'migrate'], { dataDir: directory.path, wrapper })
  assert.equal(code, 0, stderr)
  const lines = readFileSync(recording, 'utf8').split('\n')
  return CALLS.flatMap((call) => {
    const count = lines.filter((line) => line.includes(`${call}(`)).length
    assert.ok(count > 0, `the recording holds no ${call}`)
    return Array.from({ length: count }, (_, index) => ({ call, number: index + 1 }))
  })
}

function straceOf(dataDir: string): string[] {
  const files = ['platform.db', 'platform.db-wal', 'platform.db-journal']
  return ['strace', '-f', '-D', '-qqq', ...files.flatMap((name) => ['-P', join(dataDir, name)])]
}

async function cutOffAtStatements({ rounds, chance, signal, show }: Trial): Promise<Figures> {
  const requests = await requestsOfMigration()
  const moments = pickSome(
    Array.from({ length: requests }, (_, index) => index + 1),
    rounds,
    chance,
  )
  let undone = 0
  for (const [index, moment] of moments.entries()) {
    signal.throwIfAborted()
    show(`death ${index + 1} of ${moments.length}`)
    await using scope = new AsyncDisposableStack()
    const { engine, dataDir, proxy, env } = await behindProxy(scope)
    proxy.disturb({ resetAtRequest: moment })
    await runPlatform(['db', 'migrate'], { dataDir, env })
    if (!(await isWhole(engine))) undone++
    await requireForward(engine, dataDir)
  }
  return {
    statements: requests,
    deaths: moments.length,
    applied: moments.length - undone,
    'not applied': undone,
    'partly applied': 0,
  }
}

async function requestsOfMigration(): Promise<number> {
  await using scope = new AsyncDisposableStack()
  const { dataDir, proxy, env } = await behindProxy(scope)
  const { code, stderr } = await runPlatform(['db', 'migrate'], { dataDir, env })
  assert.equal(code, 0, stderr)
  return proxy.requests
}

async function behindProxy(scope: AsyncDisposableStack) {
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('postgres', dataDir, scope)
  const url = new URL(engine.env['DATABASE_URL'] ?? '')
  const proxy = scope.use(await startFaultProxy(Number(url.port)))
  url.port = String(proxy.port)
  return { dataDir, engine, proxy, env: { DATABASE_URL: url.href } }
}

function pickSome<T>(all: readonly T[], count: number, chance: Chance): T[] {
  const left = [...all]
  while (left.length > count) left.splice(chance.between(0, left.length - 1), 1)
  return left
}

const TABLES: Readonly<Record<EngineName, string>> = {
  sqlite: `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
  postgres: `select tablename as name from pg_tables where schemaname = 'public'`,
}

/** Whether the whole schema exists; fails when only a part of it does. */
async function isWhole(engine: Engine): Promise<boolean> {
  const tables = await engine.rows(TABLES[engine.name])
  if (tables.length === 0) return false
  assert.ok((await engine.count('select count(*) from schema_migrations')) > 0, 'tables without their step')
  return true
}

/** The same for a file that may need recovery first, on a copy. */
function isWholeFile(dataDir: string): boolean {
  using copy = copyOf(dataDir)
  using database = new DatabaseSync(join(copy.path, 'platform.db'))
  if (database.prepare(TABLES.sqlite).all().length === 0) return false
  assert.ok(database.prepare('select 1 from schema_migrations').get(), 'tables without their step')
  return true
}

async function requireForward(engine: Engine, dataDir: string): Promise<void> {
  const options = { dataDir, env: engine.env }
  const { code, stderr } = await runPlatform(['db', 'migrate'], options)
  assert.equal(code, 0, stderr)
  assert.doesNotMatch((await runPlatform(['db', 'status'], options)).stdout, /pending/)
  assert.ok(await isWhole(engine))
}

async function refuseSuccessor({ scope }: Trial): Promise<Figures> {
  const engines: readonly EngineName[] = ['sqlite', 'postgres']
  for (const name of engines) {
    const dataDir = scope.use(temporaryDirectory()).path
    const engine = await openEngine(name, dataDir, scope)
    const options = { dataDir, env: engine.env }
    assert.equal((await runPlatform(['db', 'migrate'], options)).code, 0)
    await recordSuccessor(engine, dataDir)
    for (const command of [['serve'], ['db', 'migrate']]) {
      const { code, stderr } = await runPlatform(command, options)
      assert.equal(code, 1)
      assert.match(stderr, new RegExp(SUCCESSOR))
    }
  }
  return { engines: engines.length, refused: engines.length }
}

/** Records a breaking step of a later release. */
async function recordSuccessor(engine: Engine, dataDir: string): Promise<void> {
  const statement = `insert into schema_migrations (name, breaking, applied_at) values ('${SUCCESSOR}', 1, 1)`
  if (engine.name === 'postgres') return void (await engine.rows(statement))
  using database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec(statement)
}
