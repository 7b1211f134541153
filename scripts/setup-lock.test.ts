import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { startZombie } from '../test/support/zombie.ts'
import { withSetupLock } from './setup-lock.mjs'

function lockFile(checkout: string): string {
  const name = createHash('sha256').update(checkout).digest('hex').slice(0, 16)
  return join(tmpdir(), `platform-setup-${name}.lock`)
}

test('two set-ups of one checkout run one after the other', async () => {
  const checkout = `/checkout/${randomUUID()}`
  const events: string[] = []
  const setUp = (name: string) =>
    withSetupLock(checkout, async () => {
      events.push(`${name} begins`)
      await nextTurn()
      events.push(`${name} ends`)
    })
  await Promise.all([setUp('first'), setUp('second')])
  assert.deepEqual(events, ['first begins', 'first ends', 'second begins', 'second ends'])
})

test('the lock of a dead process is replaced', async () => {
  const checkout = `/checkout/${randomUUID()}`
  const { pid } = spawnSync('true')
  writeFileSync(lockFile(checkout), String(pid))
  let ran = false
  await withSetupLock(checkout, async () => {
    ran = true
  })
  assert.ok(ran)
})

test('the lock of a zombie is replaced', async () => {
  const checkout = `/checkout/${randomUUID()}`
  await using zombie = await startZombie()
  writeFileSync(lockFile(checkout), String(zombie.pid))
  let ran = false
  await withSetupLock(checkout, async () => {
    ran = true
  })
  assert.ok(ran)
})

test('a failed set-up removes its lock', async () => {
  const checkout = `/checkout/${randomUUID()}`
  const failing = withSetupLock(checkout, () => Promise.reject(new Error('disk full')))
  await assert.rejects(failing, /disk full/)
  assert.equal(existsSync(lockFile(checkout)), false)
})
