import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import type { DatabaseAddress } from '../../src/store/open.ts'
import { backupsOf } from '../support/data-backups.ts'
import { STEPS, type Step, type Task } from '../support/dying-backup.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { onEveryDialect, testStore } from '../support/store.ts'
import { countProcesses } from '../support/stubborn-program.ts'

const ROOT = join(import.meta.dirname, '../..')
const PROCESS = ['--import=./scripts/fast-tests.mjs', 'test/support/dying-backup.ts']

function databaseOf(address: DatabaseAddress): Task['database'] {
  return address.kind === 'sqlite' ? { path: address.path } : { url: address.url.reveal() }
}

function startDying(task: Task, env: NodeJS.ProcessEnv = process.env): ChildProcess {
  return spawn(process.execPath, [...PROCESS, JSON.stringify(task)], { cwd: ROOT, stdio: 'inherit', env })
}

async function runDying(task: Task): Promise<void> {
  assert.deepEqual(await once(startDying(task), 'exit'), [null, 'SIGKILL'])
}

/** Programs that copy without end, in a directory that comes first in the answered `PATH`. */
function endlessPrograms(directory: string): string {
  const programs = join(directory, 'programs')
  mkdirSync(programs)
  const loop = `exec sh -c 'while :; do sleep 1; done' "$@"`
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'pg_dump (PostgreSQL) 15.0' && exit\n${loop}\n`
  for (const name of ['cp', 'pg_dump']) writeFileSync(join(programs, name), script, { mode: 0o755 })
  return [programs, process.env['PATH']].join(delimiter)
}

onEveryDialect('a backup whose process is killed', (dialect) => {
  for (const step of STEPS) {
    test(`when it is ${step}: it has failed as interrupted, and leaves no file`, async () => {
      await using world = await deadBackup(step)
      const { id, backups } = world
      assert.equal((await backups.service.get(id)).status, 'running')
      backups.start()
      const { status, error, sha256 } = await backups.ended(id)
      assert.deepEqual([status, error, sha256], ['failed', 'interrupted', null])
      assert.deepEqual(readdirSync(world.directory), [])
      assert.deepEqual(backups.alertLines(), ['data.backup.failed ERROR'])
      assert.equal((await backups.make()).status, 'completed')
    })
  }

  test('keeps a complete file that it has not placed: the database was restored from it', async () => {
    await using world = await deadBackup('verified')
    const { id, backups, directory } = world
    const [file = ''] = readdirSync(directory)
    const complete = `${id}.${dialect === 'sqlite' ? 'db' : 'dump'}`
    copyFileSync(join(directory, file), join(directory, complete))
    backups.start()
    assert.equal((await backups.ended(id)).error, 'interrupted')
    assert.deepEqual(readdirSync(directory), [complete])
  })

  test('does not refuse the next one of a command', async () => {
    await using world = await deadBackup('written')
    const made = world.backups.service.backUp({}, 'ada')
    world.backups.start()
    assert.equal((await made).status, 'completed')
  })

  test('leaves no program that goes on writing', async () => {
    await using world = await requestedBackup()
    const child = startDying(world.task, { ...process.env, PATH: endlessPrograms(world.directory) })
    // The name of the file is an argument of each program.
    const file = `${world.id}.`
    await eventually('the copy has begun', () => countProcesses(file) > 0)
    child.kill('SIGKILL')
    await eventually('the copy has ended', () => countProcesses(file) === 0)
  })

  async function deadBackup(step: Step) {
    const world = await requestedBackup()
    await runDying({ ...world.task, step })
    return world
  }

  async function requestedBackup() {
    await using opening = new AsyncDisposableStack()
    const { path } = opening.use(temporaryDirectory())
    const directory = join(path, 'backups')
    mkdirSync(directory)
    const { store, address } = opening.use(await testStore(dialect))
    const backups = backupsOf(store, directory)
    opening.defer(() => backups.stop())
    const { id } = await backups.request()
    const task: Task = { database: databaseOf(address), directory }
    const opened = opening.move()
    return { id, backups, directory, task, [Symbol.asyncDispose]: () => opened.disposeAsync() }
  }
})

test('files of other backups stay', async () => {
  await using opening = new AsyncDisposableStack()
  const { path } = opening.use(temporaryDirectory())
  const { store } = opening.use(await testStore('sqlite'))
  const backups = backupsOf(store, path)
  opening.defer(() => backups.stop())
  backups.start()
  const { id } = await backups.make()
  writeFileSync(join(path, `${id}0.db`), 'another one')
  await store.write((tx) => backups.service.remove(tx, id, 'ada'))
  await backups.service.removeFiles()
  assert.deepEqual(readdirSync(path), [`${id}0.db`])
})
