import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeProcessLock } from './process-lock.ts'

function lockFile() {
  const directory = mkdtempSync(join(tmpdir(), 'process-lock-'))
  return {
    path: join(directory, 'run.lock'),
    files: () => readdirSync(directory),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function taken(path: string): Disposable {
  const lock = takeProcessLock(path)
  return 'heldBy' in lock ? assert.fail(`held by ${lock.heldBy}`) : lock
}

test('a free lock is taken, names its owner, and can be taken again after its release', () => {
  using file = lockFile()
  const lock = taken(file.path)
  assert.deepEqual(takeProcessLock(file.path), { heldBy: process.pid })
  assert.deepEqual(file.files(), ['run.lock'])
  lock[Symbol.dispose]()
  lock[Symbol.dispose]()
  assert.deepEqual(file.files(), [])
  taken(file.path)[Symbol.dispose]()
})

test('the lock of a killed process is taken over', async () => {
  using file = lockFile()
  const module = JSON.stringify(join(import.meta.dirname, 'process-lock.ts'))
  const program = `const { takeProcessLock } = await import(${module})
    takeProcessLock(${JSON.stringify(file.path)}); console.log('taken'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  await once(child.stdout, 'data')
  assert.deepEqual(takeProcessLock(file.path), { heldBy: child.pid })
  child.kill('SIGKILL')
  await once(child, 'close')
  taken(file.path)[Symbol.dispose]()
  assert.deepEqual(file.files(), [])
})

for (const [what, owner] of [
  ['of an earlier boot', `${process.pid} 1 an-earlier-boot`],
  ['of a process whose number was given again', `${process.pid} 1`],
  ['that is empty', ''],
  ['that is no lock', 'x\0y'],
] as const) {
  test(`a lock ${what} is taken over`, () => {
    using file = lockFile()
    writeFileSync(file.path, owner)
    taken(file.path)[Symbol.dispose]()
    assert.deepEqual(file.files(), [])
  })
}

test('a directory without access to it is an error that names the lock', () => {
  using file = lockFile()
  assert.throws(() => takeProcessLock(join(file.path, 'missing', 'run.lock')), /run\.lock/)
})
