import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { startZombie } from '../../test/support/zombie.ts'
import { isRunning, startOf } from './process-state.ts'

test('this process and its parent run, and have a start', () => {
  for (const pid of [process.pid, process.ppid]) {
    assert.ok(isRunning(pid))
    assert.match(startOf(pid) ?? '', /^\d+$/)
  }
})

test('a process that has ended does not run', () => {
  const { pid } = spawnSync('true')
  assert.equal(isRunning(pid), false)
  assert.equal(startOf(pid), undefined)
})

test('a zombie does not run', async () => {
  await using zombie = await startZombie()
  assert.equal(isRunning(zombie.pid), false)
  assert.equal(startOf(zombie.pid), undefined)
})
