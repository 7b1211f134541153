import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { numberAfterRestore } from './numbering.ts'

const NOW = Date.parse('2026-01-31T02:00:00Z')
const PER_MS = 1_000

test('a number that was given out before a restoration is never above those after it', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          ms: fc.integer({ min: 1, max: 1e9 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      ),
      fc.infiniteStream(fc.nat()),
      (lives, choices) => {
        const snapshots = [0]
        let [now, number, highest] = [NOW, 0, 0]
        for (const { ms, share } of lives) {
          now += ms
          number += Math.floor((ms * PER_MS - 1) * share)
          highest = Math.max(highest, number)
          snapshots.push(number)
          const snapshot = snapshots[choices.next().value % snapshots.length] ?? 0
          number = numberAfterRestore(snapshot, PER_MS, now)
          assert.ok(number > highest)
        }
      },
    ),
  ))

test('with a clock that is behind, the numbers continue far above those of the snapshot', () => {
  const newest = NOW * PER_MS
  assert.ok(numberAfterRestore(newest, PER_MS, 0) > newest + 1e10)
})

test('the numbers stay exact for more than a hundred years', () => {
  const later = Date.parse('2126-01-31T02:00:00Z')
  assert.ok(numberAfterRestore(0, PER_MS, later) < Number.MAX_SAFE_INTEGER / 1.8)
})
