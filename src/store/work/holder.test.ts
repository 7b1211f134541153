import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { startZombie } from '../../../test/support/zombie.ts'
import { isDeadHolder, newHolder } from './holder.ts'

/** A holder in another process of this host. */
function holderIn(pid: number | string): string {
  const [host, , id] = newHolder().split('/')
  return [host, pid, id].join('/')
}

test('holders in this process and in running ones are alive', () => {
  assert.equal(isDeadHolder(newHolder()), false)
  assert.equal(isDeadHolder(holderIn(process.ppid)), false)
})

test('a holder whose process has ended is dead', () => {
  const { pid } = spawnSync('true')
  assert.equal(isDeadHolder(holderIn(pid)), true)
})

test('a holder whose process is a zombie is dead', async () => {
  await using zombie = await startZombie()
  assert.equal(isDeadHolder(holderIn(zombie.pid)), true)
})

test('holders on other hosts, and those that name no process, count as alive', () => {
  const { pid } = spawnSync('true')
  for (const holder of [`other-host/${pid}/x`, holderIn('x'), 'x']) assert.equal(isDeadHolder(holder), false)
})
