import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Budget } from './budget.ts'

const never = new AbortController().signal

/** Reserves, and notes when it was granted. */
function reserveAll(budget: Budget, amounts: readonly number[], signal = never) {
  const granted: number[] = []
  const all = amounts.map((amount) => budget.reserve(amount, signal).then(() => granted.push(amount)))
  return { granted, all }
}

test('what exceeds the limit waits until something is released, in the order of the calls', async () => {
  const budget = new Budget(100)
  const { granted } = reserveAll(budget, [60, 30, 50, 10])
  await nextTurn()
  assert.deepEqual([granted, budget.used, budget.missing], [[60, 30], 90, 60])
  budget.release(60)
  await nextTurn()
  assert.deepEqual([granted, budget.used, budget.missing], [[60, 30, 50, 10], 90, 0])
})

test('an amount larger than the limit is granted alone', async () => {
  const budget = new Budget(100)
  const { granted } = reserveAll(budget, [500, 1])
  await nextTurn()
  assert.deepEqual(granted, [500])
  budget.release(500)
  await nextTurn()
  assert.deepEqual(granted, [500, 1])
})

test('a call that is aborted while it waits gives its turn to the next one', async () => {
  const budget = new Budget(100)
  const abort = new AbortController()
  await budget.reserve(90, never)
  const large = reserveAll(budget, [50], abort.signal)
  const small = reserveAll(budget, [10])
  abort.abort(new Error('the session is over'))
  await assert.rejects(Promise.all(large.all), /the session is over/)
  await nextTurn()
  assert.deepEqual([small.granted, budget.used], [[10], 100])
})

test('what cannot wait is counted, and holds back what can', async () => {
  const budget = new Budget(100)
  budget.charge(150)
  const { granted } = reserveAll(budget, [10])
  await nextTurn()
  assert.deepEqual([granted, budget.missing], [[], 10])
  budget.release(100)
  await nextTurn()
  assert.deepEqual(granted, [10])
})

test('no more calls than allowed are granted in one turn of the event loop', async () => {
  const budget = new Budget(100, { grantsPerTurn: 2 })
  const { granted } = reserveAll(budget, [1, 2, 3, 4, 5])
  await Promise.resolve()
  assert.deepEqual(granted, [1, 2])
  await nextTurn()
  assert.deepEqual(granted, [1, 2, 3, 4])
  await nextTurn()
  assert.deepEqual([granted, budget.used], [[1, 2, 3, 4, 5], 15])
})

test('what is released within a turn is granted in the next one, if the turn has granted enough', async () => {
  const budget = new Budget(2, { grantsPerTurn: 2 })
  const { granted } = reserveAll(budget, [1, 1, 1])
  budget.release(1)
  await Promise.resolve()
  assert.equal(granted.length, 2)
  await nextTurn()
  assert.equal(granted.length, 3)
})
