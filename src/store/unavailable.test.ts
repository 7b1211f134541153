import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ReusableTimeout } from './unavailable.ts'

const LIMIT_MS = 40
const tooLong = () => new Error('too long')
const never = () => new Promise<never>(() => {})

test('a work that settles in time has its own outcome', async () => {
  const timeout = new ReusableTimeout(LIMIT_MS)
  assert.equal(await timeout.race(Promise.resolve(1), tooLong), 1)
  await assert.rejects(timeout.race(Promise.reject(new Error('its own')), tooLong), /its own/)
  assert.equal(await timeout.race(pause(LIMIT_MS / 4, 2), tooLong), 2)
  timeout.clear()
})

test('each work that hangs is rejected, and the next one has the whole time again', async () => {
  const timeout = new ReusableTimeout(LIMIT_MS)
  for (let times = 0; times < 3; times++) {
    await assert.rejects(timeout.race(never(), tooLong), /too long/)
    assert.equal(await timeout.race(pause(LIMIT_MS / 2, times), tooLong), times)
  }
  timeout.clear()
})

test('the limit is for each work, not for their sum', async () => {
  const timeout = new ReusableTimeout(4 * LIMIT_MS)
  for (let times = 0; times < 8; times++)
    assert.equal(await timeout.race(pause(LIMIT_MS, times), tooLong), times)
  timeout.clear()
})

test('a cleared timeout does not keep the process alive, and works again', async () => {
  const timeout = new ReusableTimeout(LIMIT_MS)
  await timeout.race(Promise.resolve(), tooLong)
  timeout.clear()
  timeout.clear()
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout'),
    [],
  )
  await assert.rejects(timeout.race(never(), tooLong), /too long/)
  timeout.clear()
})

test('a process that was suspended first handles what has arrived meanwhile', async () => {
  const timeout = new ReusableTimeout(LIMIT_MS)
  const work = timeout.race(pause(LIMIT_MS / 2, 'done'), tooLong)
  const until = performance.now() + 3 * LIMIT_MS
  while (performance.now() < until);
  assert.equal(await work, 'done')
  timeout.clear()
})

test('a rejected work that settles later does not stop the timeout of the next one', async () => {
  const timeout = new ReusableTimeout(LIMIT_MS)
  const late = Promise.withResolvers<void>()
  await assert.rejects(timeout.race(late.promise, tooLong), /too long/)
  const next = timeout.race(never(), tooLong)
  late.resolve()
  await assert.rejects(next, /too long/)
  timeout.clear()
})
