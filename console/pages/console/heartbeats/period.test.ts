import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodText, secondsOf } from './period.ts'

const PERIODS = [
  ['90s', 90],
  ['15 minutes', 900],
  ['1.5h', 5_400],
  ['1d 12h', 129_600],
  ['2 小时', 7_200],
  ['0s', 0],
  ['', undefined],
  ['5', undefined],
  ['5 fortnights', undefined],
  ['soon 5m', undefined],
] as const

for (const [text, seconds] of PERIODS) {
  test(`the period "${text}" has ${seconds} seconds`, () => {
    assert.equal(secondsOf(text), seconds)
  })
}

test('a period is written in the largest unit of which it has a whole number', () => {
  assert.deepEqual([86_400, 5_400, 90, 0].map(periodText), ['1d', '90m', '90s', '0s'])
})
