import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf, lonePlaces, scaleOf } from './columns-of.ts'

test('neighbouring values are added until they fit', () => {
  assert.deepEqual(columnsOf([1, 2, 3, 4, 5], 3), [3, 7, 5])
  assert.deepEqual(columnsOf([1, 2], 3), [1, 2])
  assert.deepEqual(columnsOf([], 3), [])
})

test('a column without a known value is a gap, and an unknown value beside a known one counts nothing', () => {
  assert.deepEqual(columnsOf([null, null, null, 4], 2), [null, 4])
})

test('a value without a neighbour needs a dot, because no line shows it', () => {
  assert.deepEqual(lonePlaces([5]), [0])
  assert.deepEqual(lonePlaces([null, 5, null, 1, 2, null, 0]), [1, 6])
  assert.deepEqual(lonePlaces([1, 2]), [])
})

test('an axis ends at or above the largest value, in a few round steps', () => {
  const scales = [0, 1, 3, 4, 7, 41, 336, 1_000, 10_001].map((most) => scaleOf(most).ticks.join(' '))
  assert.deepEqual(scales, [
    '0 1',
    '0 1',
    '0 1 2 3',
    '0 1 2 3 4',
    '0 2 4 6 8',
    '0 20 40 60',
    '0 100 200 300 400',
    '0 500 1000',
    '0 5000 10000 15000',
  ])
})
