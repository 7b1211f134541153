import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createWatch } from './time-limit.ts'

const LIMIT_MS = 40
const tooLong = () => new Error('too long')
const never = () => new Promise<never>(() => {})

test('what settles in time has its own outcome', async () => {
  const watch = createWatch(LIMIT_MS)
  assert.equal(await watch.over(Promise.resolve(1), tooLong), 1)
  await assert.rejects(watch.over(Promise.reject(new Error('its own')), tooLong), /its own/)
  assert.equal(await watch.over(pause(LIMIT_MS / 4, 2), tooLong), 2)
  watch.rest()
})

test('each work that hangs is given up, and the next one has the whole time again', async () => {
  const watch = createWatch(LIMIT_MS)
  for (let times = 0; times < 3; times++) {
    await assert.rejects(watch.over(never(), tooLong), /too long/)
    assert.equal(await watch.over(pause(LIMIT_MS / 2, times), tooLong), times)
  }
  watch.rest()
})

test('works that together take longer than one may are no reason to give up', async () => {
  const watch = createWatch(4 * LIMIT_MS)
  for (let times = 0; times < 8; times++)
    assert.equal(await watch.over(pause(LIMIT_MS, times), tooLong), times)
  watch.rest()
})

test('a watch that rests does not keep the process, and goes on with the next work', async () => {
  const watch = createWatch(LIMIT_MS)
  await watch.over(Promise.resolve(), tooLong)
  watch.rest()
  watch.rest()
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout'),
    [],
  )
  await assert.rejects(watch.over(never(), tooLong), /too long/)
  watch.rest()
})

test('a process that stood still finishes what could have been finished meanwhile', async () => {
  const watch = createWatch(LIMIT_MS)
  const work = watch.over(pause(LIMIT_MS / 2, 'done'), tooLong)
  const until = performance.now() + 3 * LIMIT_MS
  while (performance.now() < until);
  assert.equal(await work, 'done')
  watch.rest()
})

test('one that was given up and settles later takes the time limit from nobody', async () => {
  const watch = createWatch(LIMIT_MS)
  const late = Promise.withResolvers<void>()
  await assert.rejects(watch.over(late.promise, tooLong), /too long/)
  const next = watch.over(never(), tooLong)
  late.resolve()
  await assert.rejects(next, /too long/)
  watch.rest()
})
