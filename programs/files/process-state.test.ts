import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { startZombie } from '../../test/support/zombie.ts'
import { startOf } from './process-state.ts'

test('this process and its parent have a start', () => {
  for (const pid of [process.pid, process.ppid]) assert.match(startOf(pid) ?? '', /^\d+$/)
})

test('a process that has ended has none', () => {
  const { pid } = spawnSync('true')
  assert.equal(startOf(pid), undefined)
})

test('a zombie has none', async () => {
  await using zombie = await startZombie()
  assert.equal(startOf(zombie.pid), undefined)
})
