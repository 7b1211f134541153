import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OutgoingBudget } from './outgoing-budget.ts'

const never = new AbortController().signal

/** Reserves, and notes when it was granted. */
function reserveAll(budget: OutgoingBudget, sizes: readonly number[], signal = never) {
  const granted: number[] = []
  const all = sizes.map((bytes) => budget.reserve(bytes, signal).then(() => granted.push(bytes)))
  return { granted, all }
}

test('bytes beyond the limit wait until others are released, in the order of the calls', async () => {
  const budget = new OutgoingBudget(100)
  const { granted } = reserveAll(budget, [60, 30, 50, 10])
  await nextTurn()
  assert.deepEqual([granted, budget.usedBytes, budget.missingBytes], [[60, 30], 90, 60])
  budget.release(60)
  await nextTurn()
  assert.deepEqual([granted, budget.usedBytes, budget.missingBytes], [[60, 30, 50, 10], 90, 0])
})

test('one answer is granted although it is larger than the limit', async () => {
  const budget = new OutgoingBudget(100)
  const { granted } = reserveAll(budget, [500, 1])
  await nextTurn()
  assert.deepEqual(granted, [500])
  budget.release(500)
  await nextTurn()
  assert.deepEqual(granted, [500, 1])
})

test('who aborts while waiting gives the turn to the next one', async () => {
  const budget = new OutgoingBudget(100)
  const abort = new AbortController()
  await budget.reserve(90, never)
  const large = reserveAll(budget, [50], abort.signal)
  const small = reserveAll(budget, [10])
  abort.abort(new Error('the session is over'))
  await assert.rejects(Promise.all(large.all), /the session is over/)
  await nextTurn()
  assert.deepEqual([small.granted, budget.usedBytes], [[10], 100])
})

test('bytes that cannot wait are counted, and hold back those that can', async () => {
  const budget = new OutgoingBudget(100)
  budget.charge(150)
  const { granted } = reserveAll(budget, [10])
  await nextTurn()
  assert.deepEqual([granted, budget.missingBytes], [[], 10])
  budget.release(100)
  await nextTurn()
  assert.deepEqual(granted, [10])
})
