import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf } from './columns-of.ts'

test('neighbouring values are added until they fit', () => {
  assert.deepEqual(columnsOf([1, 2, 3, 4, 5], 3), [3, 7, 5])
  assert.deepEqual(columnsOf([1, 2], 3), [1, 2])
  assert.deepEqual(columnsOf([], 3), [])
})

test('a column without a known value is a gap, and an unknown value beside a known one counts nothing', () => {
  assert.deepEqual(columnsOf([null, null, null, 4], 2), [null, 4])
})
