import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastValues } from './last-values.ts'

test('the values of an item are listed by their paths', () => {
  assert.deepEqual(
    lastValues({ cpu: 0.5, disk: { free: 3, name: 'sda' }, tags: ['a'], none: {}, note: null }),
    [
      ['cpu', '0.5'],
      ['disk.free', '3'],
      ['disk.name', 'sda'],
      ['tags', '["a"]'],
      ['none', '{}'],
      ['note', 'null'],
    ],
  )
})
