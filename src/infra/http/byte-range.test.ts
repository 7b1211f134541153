import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseByteRange } from './byte-range.ts'

const SIZE = 1_000

const RANGES: readonly (readonly [
  header: string | undefined,
  expected: ReturnType<typeof parseByteRange>,
])[] = [
  [undefined, 'whole'],
  ['bytes=0-', { first: 0, last: 999 }],
  ['bytes=0-0', { first: 0, last: 0 }],
  ['Bytes=10-19', { first: 10, last: 19 }],
  ['bytes= 10-19 ', { first: 10, last: 19 }],
  ['bytes=999-', { first: 999, last: 999 }],
  ['bytes=0-99999999999999999999999', { first: 0, last: 999 }],
  ['bytes=-1', { first: 999, last: 999 }],
  ['bytes=-1000', { first: 0, last: 999 }],
  ['bytes=-5000', { first: 0, last: 999 }],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=99999999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=9007199254740993-9007199254740992', 'whole'],
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['items=0-1', 'whole'],
]

for (const [header, expected] of RANGES) {
  test(`the range ${header} of a file of ${SIZE} bytes`, () => {
    assert.deepEqual(parseByteRange(header, SIZE), expected)
  })
}

test('no part of an empty file can be sent', () => {
  assert.equal(parseByteRange('bytes=0-', 0), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=-1', 0), 'unsatisfiable')
})
