import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alertedAfter, presentable, type AlertedPercent } from './model.ts'

test('an alert rises at 80 and 95 percent, and ends only below 70', () => {
  const seen: AlertedPercent[] = []
  let alerted: AlertedPercent = 0
  for (const used of [79, 80, 94, 95, 100, 85, 70, 69, 79, 95, 60]) {
    alerted = alertedAfter(alerted, { used, size: 100 })
    seen.push(alerted)
  }
  assert.deepEqual(seen, [0, 80, 80, 95, 95, 95, 95, 0, 0, 95, 0])
})

test('what a peer wrote is cut, and made fit for every database', () => {
  assert.equal(presentable('a\0b\ud800c'), 'ab\ufffdc')
  assert.equal(presentable('€'.repeat(300)).length, 200)
  assert.ok(presentable(`${'x'.repeat(199)}😀`).isWellFormed())
})
