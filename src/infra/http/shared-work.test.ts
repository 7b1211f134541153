import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedWork } from './shared-work.ts'

test('callers that wait share one run, and one that comes during a run gets the next', async () => {
  const started: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()]
  const mayEnd = Promise.withResolvers<void>()
  let runs = 0
  const read = sharedWork(
    async () => {
      started[runs++]?.resolve()
      await mayEnd.promise
      return runs
    },
    { pause: async () => undefined },
  )
  const first = [read(), read()]
  await started[0]?.promise
  const later = [read(), read()]
  mayEnd.resolve()
  assert.deepEqual(
    [await Promise.all(first), await Promise.all(later)],
    [
      [1, 1],
      [2, 2],
    ],
  )
})

test('the work takes a tenth of the time, and a failure is told to those who waited for it only', async () => {
  let time = 0
  const pauses: number[] = []
  const fail = sharedWork(
    async () => {
      time += 5
      throw new Error('it failed')
    },
    { now: () => time, pause: async (milliseconds) => void pauses.push(milliseconds) },
  )
  await assert.rejects(fail(), /it failed/)
  await assert.rejects(fail(), /it failed/)
  assert.deepEqual(pauses, [45])
})

test('each caller of one run goes on in a turn of the event loop of its own', async (t) => {
  let turn = 0
  let counting = setImmediate(function count() {
    turn++
    counting = setImmediate(count)
  })
  t.after(() => clearImmediate(counting))
  const read = sharedWork(async () => undefined, { pause: async () => undefined })
  const turns = await Promise.all(Array.from({ length: 100 }, () => read().then(() => turn)))
  assert.equal(new Set(turns).size, turns.length)
})
