import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startZombie } from '../test/support/zombie.ts'
import { withSetupLock } from './setup-lock.mjs'

const LOCK_MODULE = join(import.meta.dirname, 'setup-lock.mjs')

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

const ROUNDS = 30
// Every process begins a round at the same moment, and works in it alone or fails.
const CONTENDER = `
  import { mkdirSync, rmdirSync } from 'node:fs'
  import { setTimeout as wait } from 'node:timers/promises'
  const [lock, directory, startsAt] = process.argv.slice(1)
  const { withSetupLock } = await import(lock)
  const compete = async (round) => {
    const begin = Number(startsAt) + round * 20
    await wait(begin - Date.now() - 2)
    while (Date.now() < begin);
    await withSetupLock(directory + '#' + round, async () => {
      mkdirSync(directory + '/' + round)
      await wait(5)
      rmdirSync(directory + '/' + round)
    })
  }
  await Promise.all(Array.from({ length: ${ROUNDS} }, (_, round) => compete(round)))
`

test('of several processes that meet the lock of a dead one, one works at a time', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'platform-setup-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { pid } = spawnSync('true')
  for (let round = 0; round < ROUNDS; round++) writeFileSync(lockFile(`${directory}#${round}`), String(pid))
  const startsAt = String(Date.now() + 1_000)
  const args = ['--input-type=module', '-e', CONTENDER, LOCK_MODULE, directory, startsAt]
  await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)))
})

test('a set-up does not remove the lock of another process', async (t) => {
  const checkout = `/checkout/${randomUUID()}`
  t.after(() => rmSync(lockFile(checkout), { force: true }))
  await withSetupLock(checkout, async () => writeFileSync(lockFile(checkout), String(process.ppid)))
  assert.ok(existsSync(lockFile(checkout)))
})
